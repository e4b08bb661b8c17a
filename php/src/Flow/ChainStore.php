<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\DuplicateJobException;
use DelayQueue\Internal\Excerpt;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use RuntimeException;

/**
 * The queue `chains`. It has for each chain that has not ended:
 *
 * - `chain/0`, a job that says which queue each link belongs to: the entry;
 * - `chain/2` …, a copy of each link that is still to come, and `chain/failed`, one of the job that is pushed if a link is buried.
 *
 * A link is pushed, and then its copy is cancelled, and then the link before is acknowledged; so a crash anywhere repeats what is missing. When a link has
 * been handled, its own copy is surely gone. So a repeat of the link before finds none, and pushes nothing.
 *
 * @internal
 */
final class ChainStore
{
    public const QUEUE = 'chains';

    /** Nobody takes these jobs: they are due in ten years. */
    private const DELAY = 10 * 365 * 86400;

    private readonly QueueInterface $chains;

    public function __construct(private readonly QueueInterface $queue)
    {
        // Workers of all queues look here, whatever their queues are like.
        $this->chains = $queue->sibling(self::QUEUE, ['partitions' => 1, 'capacity' => null] + ChainLink::RAW);
    }

    /**
     * All of the chain at once.
     *
     * @param list<ChainLink> $links
     *
     * @return bool false: there is a chain of that id, which is kept
     */
    public function add(string $chain, string $entry, array $links, ?ChainLink $failed): bool
    {
        $jobs = [['id' => ChainMark::entryId($chain), 'payload' => $entry, 'delay' => self::DELAY]];
        foreach ($links as $index => $link) {
            $mark = new ChainMark($chain, $index + 1, count($links));
            $jobs[] = $link->copy($mark->copyId(), [Chain::HEADER => $mark->header()], self::DELAY);
        }
        if ($failed !== null) {
            $jobs[] = $failed->copy(ChainMark::failureId($chain), [], self::DELAY);
        }
        try {
            $this->chains->pushMany($jobs);
        } catch (DuplicateJobException) {
            return false;
        }

        return true;
    }

    /**
     * Pushes a link, unless that has been done, or the chain is cancelled.
     *
     * @param string|null $result of the link before, as JSON
     */
    public function push(ChainMark $link, ?string $result = null): void
    {
        $copy = $this->copy($link->copyId());
        if ($copy === null) {
            return;
        }
        $pushedTo = ChainLink::push($copy, $link->jobId(), $this->queue, $result === null ? [] : [Chain::RESULT => $result]);
        $before = $link->link === 1 ? [] : [(new ChainMark($link->chain, $link->link - 1, $link->of))->copyId()];
        if ($this->chains->cancel($copy->id, ...$before) === 0) {
            // Somebody has cancelled the chain meanwhile, or a worker, whose lease had ended, has done all this before.
            $pushedTo?->cancel($link->jobId());
        }
    }

    /** Pushes the job of onFailure(), unless that has been done. */
    public function fail(ChainMark $link, string $queue, ?string $error): void
    {
        $copy = $this->copy(ChainMark::failureId($link->chain));
        if ($copy === null) {
            return;
        }
        $failure = ['link' => $link->link, 'of' => $link->of, 'id' => $link->jobId(), 'queue' => $queue, 'error' => Excerpt::of((string) $error, 500)];
        $json = json_encode($failure, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
        ChainLink::push($copy, $copy->id, $this->queue, [Chain::FAILURE => $json]);
        $this->chains->cancel($copy->id);
    }

    /** Forgets a chain. */
    public function end(ChainMark $last): void
    {
        $this->chains->cancel(ChainMark::failureId($last->chain), ChainMark::entryId($last->chain), $last->copyId());
    }

    public function status(string $chain): ?ChainStatus
    {
        $queues = $this->queues($chain);
        if ($queues === null) {
            return null;
        }
        $next = $this->next($chain, count($queues));
        $link = new ChainMark($chain, max(1, $next - 1), count($queues));

        return self::at($link, $queues, $this->job($link, $queues));
    }

    /** As Chain::check(). */
    public function check(string $chain): ?ChainStatus
    {
        while (($queues = $this->queues($chain)) !== null) {
            $next = $this->next($chain, $of = count($queues));
            if ($next === 1) {
                $this->push(new ChainMark($chain, 1, $of));
                continue;
            }
            $link = new ChainMark($chain, $next - 1, $of);
            $job = $this->job($link, $queues);
            if ($job?->state === State::Buried) {
                $this->fail($link, $job->queue, $job->lastError);
            }
            if ($job !== null) {
                return self::at($link, $queues, $job);
            }
            if (!$this->hasMovedOn($link, $queues)) {
                $this->fail($link, $queues[$link->link - 1][0], 'the job is gone: it was cancelled by its id, purged or dropped');
                $this->forget($chain, $of);

                return self::at($link, $queues, null);
            }
        }

        return null;
    }

    /** As Chain::cancel(). */
    public function cancel(string $chain): int
    {
        $queues = $this->queues($chain);
        if ($queues === null) {
            return 0;
        }
        $waiting = $this->forget($chain, count($queues));
        $cancelled = $waiting;
        // The link that is in its queue, and one that a worker may just have pushed.
        $next = count($queues) - $waiting + 1;
        foreach (range(max(1, $next - 1), min($next, count($queues))) as $number) {
            $link = new ChainMark($chain, $number, count($queues));
            $job = $this->job($link, $queues);
            if ($job !== null) {
                $isCancelled = $job->state !== State::Reserved && $this->target($link, $queues)->cancel($job->id) > 0;
                $cancelled += (int) $isCancelled - (int) ($number === $next);
            }
        }

        return $cancelled;
    }

    /**
     * Cancels the links to come, and the entry.
     *
     * @return int how many links were to come
     */
    public function forget(string $chain, int $of): int
    {
        $this->chains->cancel(ChainMark::failureId($chain));
        $copies = array_map(static fn (int $link): string => (new ChainMark($chain, $link, $of))->copyId(), range(1, $of));

        return max(0, $this->chains->cancel(ChainMark::entryId($chain), ...$copies) - 1);
    }

    /** @return iterable<string> */
    public function ids(): iterable
    {
        for ($last = null; ($page = $this->chains->list(State::Delayed, after: $last)) !== []; $last = end($page)) {
            foreach ($page as $job) {
                if (!isset($job->headers[ChainLink::TO])) {
                    yield substr($job->id, 0, -strlen(ChainMark::entryId('')));
                }
            }
        }
    }

    /**
     * Whether a link that is not in its queue has been handled: its follower is on its way, or the chain has ended.
     *
     * @param list<array{string, int}> $queues
     */
    private function hasMovedOn(ChainMark $link, array $queues): bool
    {
        if ($link->isLast()) {
            return $this->chains->peek(ChainMark::entryId($link->chain)) === null;
        }
        $next = $link->next();
        if ($this->chains->peek($next->copyId()) === null) {
            return true;
        }

        // Pushed, and then the worker was killed.
        return $this->job($next, $queues) !== null && $this->chains->cancel($next->copyId()) > 0;
    }

    /** @return int the first link that is still to come; one more than there are: none is */
    private function next(string $chain, int $of): int
    {
        for ([$low, $high] = [1, $of + 1]; $low < $high;) {
            $middle = intdiv($low + $high, 2);
            $isToCome = $this->chains->peek((new ChainMark($chain, $middle, $of))->copyId()) !== null;
            [$low, $high] = $isToCome ? [$low, $middle] : [$middle + 1, $high];
        }

        return $low;
    }

    /** @return list<array{string, int}>|null name and partitions of each link's queue; null: there is no such chain */
    private function queues(string $chain): ?array
    {
        $entry = $this->copy(ChainMark::entryId($chain));

        return $entry === null ? null : json_decode($entry->body, true, flags: JSON_THROW_ON_ERROR);
    }

    /** @param list<array{string, int}> $queues */
    private function job(ChainMark $link, array $queues): ?JobInfo
    {
        return $this->target($link, $queues)->peek($link->jobId());
    }

    /** @param list<array{string, int}> $queues */
    private function target(ChainMark $link, array $queues): QueueInterface
    {
        [$name, $partitions] = $queues[$link->link - 1];

        return $this->queue->sibling($name, ['partitions' => $partitions]);
    }

    /** @param list<array{string, int}> $queues */
    private static function at(ChainMark $link, array $queues, ?JobInfo $job): ChainStatus
    {
        return new ChainStatus($link->chain, $link->link, $link->of, $link->jobId(), $queues[$link->link - 1][0], $job?->state, $job?->lastError);
    }

    private function copy(string $id): ?JobInfo
    {
        $copy = $this->chains->peek($id);
        if ($copy?->sealError !== null) {
            throw new RuntimeException("job '$id' in queue '" . self::QUEUE . "' cannot be opened: $copy->sealError. All queues of a chain need the same keys");
        }

        return $copy;
    }
}
