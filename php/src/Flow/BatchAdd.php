<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\Internal\Invalid;
use ValueError;

/**
 * Batch::add(). While it holds the batch, nobody closes that; the batch is saved between markers and members, which proves that it still holds it then.
 *
 * @internal
 */
final class BatchAdd
{
    /** @param string $what the beginning of an error about an argument */
    public function __construct(private readonly BatchStore $store, private readonly string $what)
    {
    }

    /** @param iterable<mixed> $jobs */
    public function run(iterable $jobs): int
    {
        $members = BatchMembers::of($jobs, $this->store, $this->what);
        if ($members->count() === 0) {
            return 0;
        }
        try {
            return $this->store->hold(fn (BatchLock $lock): int => $this->add($lock, $members)) ?? throw $this->closed();
        } catch (BatchClosed | BatchHeld $error) {
            // Markers of a try that was cut off, or taken over, between marking and saving. While the batch is open, the next try needs them.
            $stage = $this->store->definition()?->stage;
            if ($stage === null || $stage === BatchStage::Closed) {
                $members->unmark();
                $this->store->close();
            }
            throw $error;
        }
    }

    private function add(BatchLock $lock, BatchMembers $members): int
    {
        $batch = $lock->batch;
        match ($batch->stage) {
            BatchStage::Open => null,
            BatchStage::Closed, BatchStage::Cancelled => throw $this->closed(),
            default => throw new BatchHeld("start() of batch '{$this->store->name}' has not come to its end: call that again"),
        };
        if ($batch->total + $members->count() > Batch::MAX_MEMBERS) {
            throw new ValueError("$this->what must not raise the batch above " . Batch::MAX_MEMBERS . " members, $batch->total are there");
        }
        $this->checkQueues($batch, $members);
        $digest = $members->digest();
        $isRepeated = isset($batch->adding[$digest]);
        $batch->adding[$digest] = $members->count();
        $batch->queues += $members->queues();
        $lock->save();

        [$new, $marked] = $members->mark($digest);
        // A try that was cut off has not counted its own.
        $new = $isRepeated ? $members->count() : $new;
        $batch->total += $new;
        $lock->save();

        $members->push($marked, $isRepeated || count($marked) > $new, $lock);
        unset($batch->adding[$digest]);
        $lock->save();

        return $new;
    }

    private function checkQueues(BatchDefinition $batch, BatchMembers $members): void
    {
        foreach ($members->queues() as $queue => $partitions) {
            if (($batch->queues[$queue] ?? $partitions) !== $partitions) {
                throw Invalid::key($this->what, 'queue', "must have as many partitions as other members' queue '$queue', which is {$batch->queues[$queue]}");
            }
        }
    }

    private function closed(): BatchClosed
    {
        return new BatchClosed("batch '{$this->store->name}' takes no more members: it has ended, or was cancelled");
    }
}
