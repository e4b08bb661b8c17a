<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\OnDuplicate;
use DelayQueue\State;

/** Pushes of an id that is taken. */
trait DuplicateRules
{
    private const TAKEN = "DuplicateJobException: job 'a' is already in queue 'rules'";

    public function testATakenIdIsRefusedInEveryState(): void
    {
        $queue = $this->queue();
        $queue->push('old', delay: 60, id: 'a');
        $push = static fn () => $queue->push('new', id: 'a');
        $this->assertSame(self::TAKEN, self::thrown($push));
        $queue->kickJob('a');
        $this->assertSame(self::TAKEN, self::thrown($push));
        $job = $queue->reserve();
        $this->assertSame(self::TAKEN, self::thrown($push));
        $job->bury();
        $this->assertSame(self::TAKEN, self::thrown($push));
        $queue->cancel('a');
        $this->assertSame('a', $push());
    }

    public function testKeepLeavesTheOldJobAlone(): void
    {
        $queue = $this->queue();
        $queue->push('old', delay: 60, id: 'a', priority: 5);

        $this->assertSame('a', $queue->push('new', id: 'a', onDuplicate: OnDuplicate::Keep));
        $this->assertSame(['old', 5, State::Delayed], [$queue->peek('a')?->payload, $queue->peek('a')?->priority, $queue->peek('a')?->state]);
    }

    public function testReplaceMakesAllNewButNotAReservedJob(): void
    {
        $queue = $this->queue();
        $queue->push('old', id: 'a', priority: 5, headers: ['h' => '1']);
        $queue->reserve()?->bury('why');
        $queue->push('new', delay: 60, id: 'a', onDuplicate: OnDuplicate::Replace);

        $info = $queue->peek('a');
        $this->assertSame(['new', 1024, [], State::Delayed], [$info?->payload, $info?->priority, $info?->headers, $info?->state]);
        $this->assertSame([0, 0, null], [$info?->attempts, $info?->buries, $info?->lastError]);
        $this->assertSame([1, 2], [$queue->count(), $queue->stats()->pushed]);
        $queue->reserveJob('a');
        $this->assertSame(self::TAKEN, self::thrown(static fn () => $queue->push('newer', id: 'a', onDuplicate: OnDuplicate::Replace)));
        $this->assertSame('new', $queue->peek('a')?->payload);
    }

    public function testABatchIsAddedWholeOrNotAtAll(): void
    {
        $queue = $this->queue();
        $queue->push('old', id: 'a');

        $this->assertSame(self::TAKEN, self::thrown(static fn () => $queue->pushMany([['payload' => 1, 'id' => 'b'], ['payload' => 2, 'id' => 'a']])));
        $this->assertSame(1, $queue->count());
        $this->assertSame("DuplicateJobException: items 0 and 1 have the same id 'c'", self::thrown(
            static fn () => $queue->pushMany([['payload' => 1, 'id' => 'c'], ['payload' => 2, 'id' => 'c']]),
        ));
        $this->assertSame(1, $queue->count());
    }

    public function testABatchMayNameAnIdTwice(): void
    {
        $queue = $this->queue();
        $queue->pushMany([
            ['payload' => 1, 'id' => 'a', 'onDuplicate' => OnDuplicate::Keep],
            ['payload' => 2, 'id' => 'a', 'onDuplicate' => OnDuplicate::Keep],
            ['payload' => 3, 'id' => 'b', 'onDuplicate' => OnDuplicate::Replace],
            ['payload' => 4, 'id' => 'b', 'onDuplicate' => OnDuplicate::Replace],
        ]);

        $this->assertSame([1, 4], self::served($queue));
    }
}
