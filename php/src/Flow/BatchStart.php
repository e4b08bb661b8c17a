<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\NewJob;
use ValueError;

/**
 * Batch::start(). All markers are there before the first member is, so while a member is not done the group is not empty. Each step may be repeated.
 *
 * @internal
 */
final class BatchStart
{
    /** @param string $what the beginning of an error about an argument */
    public function __construct(private readonly BatchStore $store, private readonly string $what)
    {
    }

    /**
     * @param iterable<mixed> $jobs
     * @param NewJob|array<string, mixed>|null $then
     * @param NewJob|array<string, mixed>|null $onFailure
     */
    public function run(iterable $jobs, NewJob|array|null $then, NewJob|array|null $onFailure): void
    {
        [$store, $name] = [$this->store, $this->store->name];
        $thenCall = BatchCall::of($then, $store->queue, "$name/then", "$this->what#4 (\$then)");
        $failedCall = BatchCall::of($onFailure, $store->queue, "$name/onFailure", "$this->what#5 (\$onFailure)");
        $members = BatchMembers::of($jobs, $store, "$this->what#3 (\$jobs)");
        $store->define(new BatchDefinition($members->digest(), $members->count(), $members->queues(), $thenCall, $failedCall));
        try {
            $store->hold(function (BatchLock $lock) use ($members): true {
                $this->go($lock, $members);

                return true;
            }) ?? throw $this->refused('is that of a batch that has ended, or was cancelled, within the last 30 days');
        } catch (BatchHeld $error) {
            // Markers that it has added to a batch that others have cancelled.
            $store->definition() === null && $members->unmark();
            throw $error;
        }
        // For a batch without members, and for members that were done while this process held it.
        $store->close();
    }

    private function go(BatchLock $lock, BatchMembers $members): void
    {
        $batch = $lock->batch;
        $batch->stage !== BatchStage::Cancelled || throw $this->refused('is that of a batch that is being cancelled');
        $batch->digest === $members->digest() || throw $this->refused('is that of a batch with other members');
        $isRepeated = $batch->stage !== BatchStage::Markers;
        if (!$isRepeated) {
            [, , $done] = $members->mark('');
            $batch->stage = $done === [] ? BatchStage::Members : $batch->stage;
            // Where another process has taken over, and members are done, it ends here.
            $lock->save();
            $done === [] || throw $this->refused('is that of a batch that had some of these members within the last day');
        }
        if ($batch->stage === BatchStage::Members) {
            $members->push(null, $isRepeated, $lock);
            $batch->stage = BatchStage::Open;
            $lock->save();
        }
    }

    private function refused(string $why): ValueError
    {
        return new ValueError("$this->what#2 (\$name) must be of this batch alone, '{$this->store->name}' $why");
    }
}
