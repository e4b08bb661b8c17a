<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\OnDuplicate;
use DelayQueue\QueueFullException;
use DelayQueue\State;

/** Pushes that depend on what is there, or was: ids that stay taken, debounces, full queues. */
trait UniqueRules
{
    public function testAnIdStaysTakenWhateverBecameOfItsJob(): void
    {
        $ends = [
            'waiting' => static fn ($queue) => null,
            'cancelled' => static fn ($queue) => $queue->cancel('a'),
            'purged' => static fn ($queue) => $queue->purge(),
            'done' => static fn ($queue) => $queue->reserve()?->ack(),
            'buried' => static fn ($queue) => $queue->reserve()?->bury(),
        ];
        foreach ($ends as $name => $end) {
            $queue = $this->queue($name);
            $queue->push('old', id: 'a', unique: '10m');
            $end($queue);
            $taken = self::thrown(static fn () => $queue->push('new', id: 'a', unique: '10m'));
            $this->assertSame("DuplicateJobException: job 'a' is already in queue '$name', or its id is still taken", $taken, $name);
            $this->assertSame('a', $queue->push('new', id: 'a', onDuplicate: OnDuplicate::Keep, unique: '10m'), $name);
            $this->assertNotSame('new', $queue->peek('a')?->payload, $name);
            $queue->cancel('a');
            $this->travel('9m');
            $this->assertNull($queue->tryPush('new', id: 'a', unique: '10m'), $name);
            $this->travel('2m');
            $this->assertSame('a', $queue->tryPush('new', id: 'a', unique: '10m'), $name);
            $this->assertNull($queue->tryPush('newer', id: 'a', unique: '10m'), $name);
        }
    }

    public function testAPlainPushDoesNotAskWhetherAnIdIsTaken(): void
    {
        $queue = $this->queue();
        $queue->push('old', id: 'a', unique: '10m');
        $queue->cancel('a');

        $this->assertSame('a', $queue->push('new', id: 'a'));
        $this->assertSame('new', $queue->reserve()?->payload);
    }

    public function testAUniquePushReplacesAJobThatWaitsAndKeepsOthers(): void
    {
        $queue = $this->queue();
        $push = static fn (string $payload): ?string => $queue->tryPush($payload, 60, 'a', onDuplicate: OnDuplicate::Replace, unique: '10m');
        $this->assertSame(['a', 'a'], [$push('first'), $push('second')]);
        $this->assertSame('second', $queue->peek('a')?->payload);
        $queue->reserveJob('a')?->bury();
        $this->assertNull($push('third'));
        $queue->kick();
        $job = $queue->reserve();
        $this->assertSame([null, 'a'], [$push('fourth'), $queue->push('fourth', id: 'a', onDuplicate: OnDuplicate::Replace, unique: '10m')]);
        $job?->ack();
        $this->assertSame([null, 0], [$push('fifth'), $queue->count()]);
        $this->travel('11m');
        $this->assertSame('a', $push('sixth'));
    }

    public function testTakenIdsAreListedAndFreed(): void
    {
        $queue = $this->queue();
        $this->assertSame([], $queue->takenIds());
        $queue->push(1, id: '7', unique: '1h');
        $queue->push(1, id: 'b', unique: '10m');
        $queue->pushMany([['payload' => 1, 'id' => 'c', 'unique' => 60], ['payload' => 1, 'id' => 'd']]);
        $taken = $queue->takenIds();
        $this->assertSame(['c', 'b', '7'], array_column($taken, 'id'));
        $this->assertEqualsWithDelta($queue->now() + 600, $taken[1]['until'], 3.0);
        $this->travel('5m');
        $this->assertSame(['b', '7'], array_column($queue->takenIds(), 'id'));
        $this->assertNull($queue->tryPush(1, id: 'b', unique: '10m'));
        $queue->purge();

        $this->assertSame(1, $queue->forgetReceipts('b'));
        $this->assertSame('b', $queue->tryPush(1, id: 'b', unique: '10m'));
    }

    public function testABatchWithATakenIdIsAddedWholeOrNotAtAll(): void
    {
        $queue = $this->queue();
        $queue->push(1, id: 'a', unique: 60);
        $queue->cancel('a');
        $jobs = static fn (OnDuplicate $rule): array => [
            ['payload' => 2, 'id' => 'b', 'unique' => 60],
            ['payload' => 2, 'id' => 'a', 'unique' => 60, 'onDuplicate' => $rule],
        ];
        $this->assertSame(self::TAKEN . ', or its id is still taken', self::thrown(static fn () => $queue->pushMany($jobs(OnDuplicate::Fail))));
        $this->assertSame([0, ['a']], [$queue->count(), array_column($queue->takenIds(), 'id')]);
        $this->assertSame(['b', 'a'], $queue->pushMany($jobs(OnDuplicate::Keep)));
        $this->assertSame(['b'], self::ids($queue, State::Ready));
    }

    public function testTryPushSaysWhetherTheJobIsStored(): void
    {
        $queue = $this->queue();
        $try = static fn (string $payload, OnDuplicate $rule): ?string => $queue->tryPush($payload, id: 'a', onDuplicate: $rule);
        $this->assertIsString($queue->tryPush(1));
        $this->assertSame('a', $try('first', OnDuplicate::Keep));
        $this->assertSame([null, null], [$try('second', OnDuplicate::Fail), $try('second', OnDuplicate::Keep)]);
        $this->assertSame(['first', 'a'], [$queue->peek('a')?->payload, $try('second', OnDuplicate::Replace)]);
        $this->assertSame('second', $queue->peek('a')?->payload);
        $queue->reserveJob('a');
        $this->assertSame([null, null, null], array_map(static fn (OnDuplicate $rule) => $try('third', $rule), OnDuplicate::cases()));
    }

    /** Fifteen pushes in 1.5 s with a delay of 0.3 s, a hundred times as slow. */
    public function testADebounceRunsAtTheLatestAfterItsMaxWait(): void
    {
        $ran = [];
        foreach (['limited' => 50, 'endless' => null] as $name => $maxWait) {
            $queue = $this->queue($name);
            $ran[$name] = 0;
            for ($n = 0; $n < 15; ++$n) {
                $queue->push($n, 30, 'a', onDuplicate: OnDuplicate::Replace, maxWait: $maxWait);
                $this->travel(10);
                $ran[$name] += count(self::served($queue));
            }
        }
        $this->assertSame(['limited' => 3, 'endless' => 0], $ran);
    }

    public function testADebounceKeepsTheMomentOfItsFirstPush(): void
    {
        $queue = $this->queue();
        $push = static fn (int $delay, ?int $maxWait) => $queue->push(1, $delay, 'a', onDuplicate: OnDuplicate::Replace, maxWait: $maxWait);
        $push(300, 500);
        $until = $queue->now() + 500;
        $this->travel(250);
        $push(300, 5000);
        $this->assertEqualsWithDelta($until, $queue->peek('a')?->dueAt, 3.0);
        $push(100, 5000);
        $this->assertEqualsWithDelta($queue->now() + 100, $queue->peek('a')?->dueAt, 3.0);
        $push(400, 500);
        $this->assertEqualsWithDelta($until, $queue->peek('a')?->dueAt, 3.0);
        $push(400, null);
        $this->assertEqualsWithDelta($queue->now() + 400, $queue->peek('a')?->dueAt, 3.0, 'without it nothing is kept');
        $push(700, 500);
        $this->assertEqualsWithDelta($queue->now() + 500, $queue->peek('a')?->dueAt, 3.0);
    }

    public function testADebounceBeginsAnewAfterAnAttempt(): void
    {
        $queue = $this->queue();
        $push = static fn () => $queue->push(1, 300, 'a', onDuplicate: OnDuplicate::Replace, maxWait: 500);
        $push();
        $this->travel(400);
        $queue->reserve()?->release(60, countAttempt: false);
        $push();
        $this->assertEqualsWithDelta($queue->now() + 100, $queue->peek('a')?->dueAt, 3.0, 'as if nobody had reserved it');
        $queue->reserveJob('a')?->release(60);
        $push();
        $this->assertEqualsWithDelta($queue->now() + 300, $queue->peek('a')?->dueAt, 3.0);
        $this->travel(250);
        $queue->reserveJob('a')?->bury();
        $push();
        $this->assertEqualsWithDelta($queue->now() + 300, $queue->peek('a')?->dueAt, 3.0);
    }

    public function testAPushThatWouldPassTheCapacityChangesNothing(): void
    {
        $queue = $this->queue('rules', ['capacity' => 3]);
        $queue->pushMany([['payload' => 1, 'id' => 'a'], ['payload' => 2, 'delay' => 60, 'id' => 'b']]);
        $queue->reserve();
        $full = self::full(static fn () => $queue->pushMany([['payload' => 3, 'id' => 'c'], ['payload' => 4, 'id' => 'd']]));
        $this->assertSame("pushing 2 jobs to queue 'rules': the queue holds 2 jobs, and with 2 more it would pass its capacity of 3", $full);
        $this->assertSame(2, $queue->count(), 'jobs in all states');
        $queue->push(3, id: 'c');
        $this->assertSame(
            "pushing job 'd' to queue 'rules': the queue holds 3 jobs, and with 1 more it would pass its capacity of 3",
            self::full(static fn () => $queue->push(4, id: 'd', unique: 60)),
        );
        $this->assertSame([[], null], [$queue->takenIds(), $queue->peek('d')]);
        self::full(static fn () => $queue->tryPush(4));
        self::full(static fn () => $queue->producer('d', 1, []));
        $queue->cancel('a');
        $this->assertSame('d', $queue->push(4, id: 'd'));
    }

    public function testOnlyNewJobsCountAgainstTheCapacity(): void
    {
        $queue = $this->queue('rules', ['capacity' => 2]);
        $queue->pushMany([['payload' => 1, 'id' => 'a'], ['payload' => 2, 'id' => 'b']]);
        $queue->push('kept', id: 'a', onDuplicate: OnDuplicate::Keep);
        $queue->push('replaced', id: 'b', onDuplicate: OnDuplicate::Replace);
        $this->assertSame(self::TAKEN, self::thrown(static fn () => $queue->push(1, id: 'a')));
        $queue->reserve()?->release();
        $queue->reserve()?->bury();
        $this->assertSame(1, $queue->kick());
        $this->assertSame([2, 0, 0], self::counts($queue->pushOnce([['receipt' => 'r1', 'payload' => 3, 'id' => 'c'], ['receipt' => 'r2', 'payload' => 4]])));
        self::full(static fn () => $queue->push(5));
        $queue->push('replaced again', id: 'b', onDuplicate: OnDuplicate::Replace);
        $this->assertSame([4, 'replaced again'], [$queue->count(), $queue->peek('b')?->payload]);
        $this->queue()->push('by another producer');
        $this->assertSame(5, $queue->count());
    }

    public function testABatchFitsWhoseNewJobsFit(): void
    {
        $queue = $this->queue('rules', ['capacity' => 3]);
        $item = static fn (string $id, OnDuplicate $rule): array => ['payload' => 1, 'id' => $id, 'onDuplicate' => $rule];
        $queue->pushMany([['payload' => 1, 'id' => 'a'], ['payload' => 2, 'id' => 'b']]);
        $queue->pushMany([$item('a', OnDuplicate::Keep), $item('b', OnDuplicate::Replace), $item('c', OnDuplicate::Keep), $item('c', OnDuplicate::Keep)]);

        $this->assertSame(3, $queue->count());
    }

    public function testASiblingHasTheCapacityUnlessItIsGivenAnother(): void
    {
        $queue = $this->queue('rules', ['capacity' => 1]);
        $sibling = $queue->sibling('sibling');
        $sibling->push(1);
        self::full(static fn () => $sibling->push(2));
        $queue->sibling('sibling', ['capacity' => 2])->push(2);
        $queue->sibling('sibling', ['capacity' => null])->push(3);

        $this->assertSame(3, $sibling->count());
    }

    /** @return string the message of the exception that has to come */
    private static function full(callable $push): string
    {
        try {
            $push();
        } catch (QueueFullException $full) {
            self::assertSame('DQCAPACITY', $full->redisCode);

            return $full->getMessage();
        }
        self::fail('it was stored');
    }
}
