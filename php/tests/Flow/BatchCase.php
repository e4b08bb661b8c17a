<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\Flow\Batch;
use DelayQueue\Flow\BatchCall;
use DelayQueue\Flow\BatchDefinition;
use DelayQueue\Flow\BatchMembers;
use DelayQueue\Flow\BatchStore;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;

/** Makes batches, and runs their jobs. */
abstract class BatchCase extends TestCase
{
    use OnAnyStore;

    protected const THEN = ['payload' => 'all', 'queue' => 'reports'];

    protected const ALARM = ['payload' => 'alas', 'queue' => 'alarms'];

    /** @return list<array<string, mixed>> */
    protected static function members(int $count, string $name = 'row', string|QueueInterface|null $queue = null): array
    {
        return array_map(static fn (int $n): array => ['payload' => $n, 'id' => "$name-$n"] + ($queue === null ? [] : ['queue' => $queue]), range(1, $count));
    }

    /** @return list<mixed> */
    protected static function figures(Batch $batch): array
    {
        $progress = $batch->progress();

        return [$progress->total, $progress->done, $progress->waiting, $progress->share];
    }

    /** As start() begins. */
    protected static function defined(BatchStore $store, int $count): BatchMembers
    {
        $members = BatchMembers::of(self::members($count), $store, 'jobs');
        $then = BatchCall::of(self::THEN, $store->queue, "$store->name/then", 'then');
        self::assertTrue($store->define(new BatchDefinition($members->digest(), $count, $members->queues(), $then, null)));

        return $members;
    }

    /** @return list<string> the ids of the jobs that ran */
    protected static function served(QueueInterface $queue, int $limit = 0): array
    {
        $ran = [];
        $queue->drain(new Follow(static function (JobInterface $job) use (&$ran): void {
            $ran[] = $job->id;
        }), $limit);

        return $ran;
    }
}
