<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\DuplicateJobException;
use DelayQueue\Internal\Excerpt;
use DelayQueue\Internal\Invalid;
use DelayQueue\NewJob;
use DelayQueue\OnExpiry;
use TypeError;
use ValueError;

/**
 * Jobs that are to be members of a batch, each of which is right by itself.
 *
 * @internal
 */
final class BatchMembers
{
    /** A page of this many jobs is stored as a whole, or not at all. */
    private const PAGE = 500;

    /** How often a member is looked for that appears while it is pushed. */
    private const TRIES = 3;

    /** @var array<array-key, Placed> by their ids */
    private array $items = [];

    /** @var array<string, int> */
    private array $queues = [];

    private function __construct(private readonly BatchStore $store)
    {
    }

    /**
     * Reads all of them before anything is sent.
     *
     * @param iterable<mixed> $jobs
     * @param string $what they are, for errors
     *
     * @throws TypeError|ValueError
     */
    public static function of(iterable $jobs, BatchStore $store, string $what): self
    {
        $members = new self($store);
        $siblings = [];
        $number = 0;
        foreach ($jobs as $job) {
            $number < Batch::MAX_MEMBERS || throw new ValueError("$what must have at most " . Batch::MAX_MEMBERS . ' jobs');
            $item = Item::of($job, true, "$what item $number");
            ($item->job['id'] ?? '') !== '' || throw Invalid::key("$what item $number", 'id', 'must be given');
            self::checkExpiry($item->job, "$what item $number");
            $members->put($item->place($store->queue, [Batch::HEADER => $store->name], $siblings), "$what item $number");
            $number++;
        }

        return $members;
    }

    /** @param array<string, mixed> $job */
    public static function checkExpiry(array $job, string $what): void
    {
        if (($job['onExpiry'] ?? null) === OnExpiry::Drop) {
            throw Invalid::key($what, 'onExpiry', 'must not be OnExpiry::Drop: nobody would hear that the job is gone');
        }
    }

    public function count(): int
    {
        return count($this->items);
    }

    /** Equal for members of the same ids in the same queues. */
    public function digest(): string
    {
        $names = array_map(static fn (Placed $item): string => "{$item->target->name()} {$item->job['id']}", $this->items);
        sort($names, SORT_STRING);

        return hash('xxh128', implode("\n", $names));
    }

    /** @return array<string, int> number of partitions by the name of the queue */
    public function queues(): array
    {
        return $this->queues;
    }

    /**
     * Marks them as members that are not done, unless they were marked before.
     *
     * @param string $of see BatchStore::marker()
     *
     * @return array{int, list<Placed>, list<Placed>} how many are new; those that are marked now; those that were, and are done
     */
    public function mark(string $of): array
    {
        [$new, $marked, $done] = [0, [], []];
        foreach (array_chunk($this->items, self::PAGE) as $page) {
            $markers = array_map(fn (Placed $item): NewJob => $this->store->marker($item->job['id'], $item->target->name(), $of), $page);
            try {
                $this->store->home->pushMany($markers);
                $new += count($page);
                array_push($marked, ...$page);
            } catch (DuplicateJobException) {
                foreach ($page as $index => $item) {
                    $isNew = $this->store->home->tryPush($markers[$index]) !== null;
                    $new += (int) $isNew;
                    $isNew || $this->store->peekMarker($item->job['id']) !== null ? $marked[] = $item : $done[] = $item;
                }
            }
        }

        return [$new, $marked, $done];
    }

    /** They are no members any more. */
    public function unmark(): void
    {
        foreach (array_chunk($this->items, self::PAGE) as $page) {
            $this->store->unmark(...array_map(static fn (Placed $item): string => $item->job['id'], $page));
        }
    }

    /**
     * Pushes members that are marked.
     *
     * @param list<Placed>|null $items null: all
     * @param bool $mayBeThere some may be in their queues, or done, since another try of the same call
     * @param BatchLock $lock is saved before each further page, so a process that stood still pushes one page at most that another one has pushed
     *
     * @throws DuplicateJobException when another job has the id of one
     */
    public function push(?array $items, bool $mayBeThere, BatchLock $lock): void
    {
        $byTarget = [];
        foreach ($items ?? $this->items as $item) {
            $byTarget[spl_object_id($item->target)][] = $item;
        }
        $isFirst = true;
        foreach ($byTarget as $ofOne) {
            foreach (array_chunk($ofOne, self::PAGE) as $page) {
                $isFirst || $lock->save();
                $isFirst = false;
                $this->pushPage($page, $mayBeThere);
            }
        }
    }

    /** @param list<Placed> $page of one queue */
    private function pushPage(array $page, bool $mayBeThere): void
    {
        for ($try = 1; ; $try++) {
            $page = $mayBeThere || $try > 1 ? array_values(array_filter($page, $this->isMissing(...))) : $page;
            try {
                $page === [] || $page[0]->target->pushMany(array_map(static fn (Placed $item): array => $item->job, $page));

                return;
            } catch (DuplicateJobException $error) {
                $try < self::TRIES || throw $error;
            }
        }
    }

    /**
     * Whether a member was never pushed. The queue is asked first: a member that is not there, and is marked afterwards, cannot have been done before.
     *
     * @throws DuplicateJobException
     */
    private function isMissing(Placed $item): bool
    {
        $id = $item->job['id'];
        $there = $item->target->peek($id);
        if ($there !== null && !$this->store->isMember($there)) {
            $job = "job '" . Excerpt::of($id, 200) . "' is in queue '{$item->target->name()}' already, and is no member of batch '{$this->store->name}'";
            throw new DuplicateJobException("$job: call again when it is gone, or cancel the batch");
        }

        return $there === null && $this->store->peekMarker($id) !== null;
    }

    private function put(Placed $item, string $what): void
    {
        [$id, $queue, $partitions] = [$item->job['id'], $item->target->name(), $item->target->settings()->partitions];
        $most = 200 - strlen("{$this->store->name}/");
        strlen($id) <= $most || throw Invalid::key($what, 'id', "must be at most $most bytes long: its name and that of the batch are 200 together");
        isset($this->items[$id]) && throw Invalid::key($what, 'id', "must not be that of another member, '" . Excerpt::of($id, 200) . "' is");
        if (in_array($id, ["{$this->store->name}/then", "{$this->store->name}/onFailure"], true)) {
            throw Invalid::key($what, 'id', 'must not be that of a job that the batch pushes later');
        }
        if (($this->queues[$queue] ??= $partitions) !== $partitions) {
            throw Invalid::key($what, 'queue', "must have as many partitions as the other objects of queue '$queue'");
        }
        $this->items[$id] = $item;
    }
}
