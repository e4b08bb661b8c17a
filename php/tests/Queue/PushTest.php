<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue\QueueFullException;

/** Pushes that depend on what is there, or was: ids that are taken, full queues. */
final class PushTest extends QueueCase
{
    public function testABatchKeepsItsOrder(): void
    {
        $queue = $this->queue();
        $ids = $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, 1200)));

        $this->assertCount(1200, array_unique($ids));
        $this->assertMatchesRegularExpression('/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/D', $ids[0]);
        $this->assertSame(range(1, 1200), array_merge(...array_map(static fn (): array => self::batch($queue, 400), [1, 2, 3])));
        $this->assertSame(1200, $queue->ackMany(...array_values(self::$hands)));
    }

    public function testABatchIsAddedWholeOrNotAtAll(): void
    {
        $queue = $this->queue();
        $queue->push('old', id: 'a');

        $this->assertSame("DuplicateJobException: job 'a' is already in queue 'rules'", self::thrown(
            static fn () => $queue->pushMany([['payload' => 1, 'id' => 'b'], ['payload' => 2, 'id' => 'a']]),
        ));
        $this->assertSame(1, $queue->count());
        $this->assertSame("DuplicateJobException: items 0 and 1 have the same id 'c'", self::thrown(
            static fn () => $queue->pushMany([['payload' => 1, 'id' => 'c'], ['payload' => 2, 'id' => 'c']]),
        ));
        $this->assertSame(1, $queue->count());
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
