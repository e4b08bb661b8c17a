<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\DuplicateJobException;
use DelayQueue\Internal\StoredJob;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\SealException;

/**
 * The queue `chains`. It has for each chain that has not ended:
 *
 * - `chain/0`, a job that says which queue each link belongs to: the entry. All entries are
 *   one group;
 * - `chain/2` …, a copy of each link that is still to come, and `chain/failed`, one of the job that is pushed if a link is buried.
 *
 * A link is pushed, and then its copy is cancelled, and then the link before is acknowledged; so a crash anywhere repeats what is missing. The copy is
 * cancelled by the program that has pushed the link, and once more when the link has been handled. So a program that has pushed a link and finds its copy
 * gone is late: the link has been handled, or the chain is cancelled.
 *
 * @internal
 */
final class ChainStore
{
    public const QUEUE = 'chains';

    /** The group of all entries. */
    private const ALL = '/chains';

    /** Nobody takes these jobs: they are due in ten years. */
    private const DELAY = 10 * 365 * 86400;

    private readonly QueueInterface $chains;

    public function __construct(private readonly QueueInterface $queue)
    {
        // Workers of all queues look here, whatever their queues are like.
        $this->chains = $queue->sibling(self::QUEUE, ['partitions' => 1, 'capacity' => null] + StoredJob::QUEUE);
    }

    /**
     * Stores all of the chain at once.
     *
     * @param list<ChainLink> $links
     *
     * @return bool false: there is a chain of that id, which is kept
     */
    public function add(ChainMark $first, array $links, ?ChainLink $failed): bool
    {
        $queues = array_map(static fn (ChainLink $link): array => [$link->queue->name(), $link->queue->settings()->partitions], $links);
        $entry = json_encode(['run' => $first->run, 'queues' => $queues], JSON_THROW_ON_ERROR);
        $jobs = [['id' => ChainMark::entryId($first->chain), 'payload' => $entry, 'delay' => self::DELAY, 'group' => self::ALL]];
        foreach ($links as $index => $link) {
            $mark = $first->at($index + 1);
            $jobs[] = $link->copy($mark->copyId(), [Chain::HEADER => $mark->header()], self::DELAY);
        }
        if ($failed !== null) {
            $jobs[] = $failed->copy(ChainMark::failureId($first->chain), [], self::DELAY);
        }
        try {
            $this->chains->pushMany($jobs);
        } catch (DuplicateJobException) {
            return false;
        }

        return true;
    }

    /** Pushes the first link of a chain, where push() was cut off. */
    public function resume(string $chain): void
    {
        $entry = $this->entry($chain);
        if ($entry !== null) {
            $this->push($entry->first);
        }
    }

    /**
     * Pushes a link, unless that has been done, or the chain is cancelled.
     *
     * @param string|null $result of the link before, as JSON
     */
    public function push(ChainMark $link, ?string $result = null): void
    {
        $copy = $this->copy($link->copyId());
        if ($copy === null || ($copy->headers[Chain::HEADER] ?? null) !== $link->header()) {
            return;
        }
        $pushedTo = ChainLink::push($copy, $link->jobId(), $this->queue, $result === null ? [] : [Chain::RESULT => $result]);
        $handled = $link->link === 1 ? [] : [$link->at($link->link - 1)->copyId()];
        if ($this->chains->cancel(...$pushedTo === null ? [] : [$copy->id], ...$handled) === 0) {
            $pushedTo?->cancel($link->jobId());
        }
    }

    /** Pushes the job of onFailure(), unless that has been done. */
    public function fail(ChainMark $link, string $queue, ?string $error): void
    {
        $copy = $this->copy(ChainMark::failureId($link->chain));
        if ($copy === null || $this->entry($link->chain)?->first->run !== $link->run) {
            return;
        }
        $json = Failure::header(['link' => $link->link, 'of' => $link->of, 'id' => $link->jobId(), 'queue' => $queue], (string) $error);
        $receipt = 'chain/' . hash('sha256', "$link->run $link->chain");
        $target = ChainLink::pushFailed($copy, $receipt, $this->queue, [Chain::FAILURE => $json]);
        $this->chains->cancel($copy->id);
        $target->forgetReceipts($receipt);
    }

    /** Forgets a chain whose last link was handled. */
    public function end(ChainMark $last): void
    {
        if ($this->entry($last->chain)?->first->run === $last->run) {
            $this->chains->cancel(ChainMark::failureId($last->chain), ChainMark::entryId($last->chain), $last->copyId());
        }
    }

    /**
     * Cancels the links to come, and the entry.
     *
     * @param ChainMark $link any of the chain
     *
     * @return int how many links were to come
     */
    public function forget(ChainMark $link): int
    {
        $this->chains->cancel(ChainMark::failureId($link->chain));
        $copies = array_map(static fn (int $number): string => $link->at($number)->copyId(), range(1, $link->of));

        return max(0, $this->chains->cancel(ChainMark::entryId($link->chain), ...$copies) - 1);
    }

    public function entry(string $chain): ?ChainEntry
    {
        $entry = $this->copy(ChainMark::entryId($chain));

        return $entry === null ? null : new ChainEntry($chain, $entry->body, $this->queue);
    }

    /** @return ChainMark|null the first link that is still to come; null: all have been pushed */
    public function next(ChainEntry $entry): ?ChainMark
    {
        for ([$low, $high] = [1, $entry->first->of + 1]; $low < $high;) {
            $middle = intdiv($low + $high, 2);
            [$low, $high] = $this->isToCome($entry->first->at($middle)) ? [$low, $middle] : [$middle + 1, $high];
        }

        return $low > $entry->first->of ? null : $entry->first->at($low);
    }

    public function isToCome(ChainMark $link): bool
    {
        return $this->chains->peek($link->copyId()) !== null;
    }

    /** @return list<string> of chains that this queue has the keys of */
    public function ids(): array
    {
        // A link of yours may be in a group of that name.
        $entries = array_filter(Unfinished::ids($this->chains, self::ALL), static fn (string $id): bool => str_ends_with($id, ChainMark::entryId('')));

        return array_map(static fn (string $id): string => substr($id, 0, -strlen(ChainMark::entryId(''))), array_values($entries));
    }

    private function copy(string $id): ?JobInfo
    {
        $copy = $this->chains->peek($id);
        if ($copy?->sealError !== null) {
            throw new SealException("job '$id' in queue '" . self::QUEUE . "' cannot be opened: $copy->sealError. All queues of a chain need the same keys");
        }

        return $copy;
    }
}
