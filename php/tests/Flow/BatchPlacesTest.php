<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\Flow\Batch;
use DelayQueue\Flow\BatchHeld;
use DelayQueue\Flow\BatchLock;
use DelayQueue\Flow\BatchStage;
use DelayQueue\Flow\BatchStore;
use DelayQueue\QueueFullException;
use DelayQueue\SealException;
use DelayQueue\Worker\TaskRouter;
use ValueError;

/** Batches of routers, with keys, prefixes and capacities. */
final class BatchPlacesTest extends BatchCase
{
    public function testAProcessThatStoodStillCannotChangeTheBatch(): void
    {
        $queue = $this->delayQueue('imports');
        Batch::start($queue, 'import-7', self::members(1), self::THEN);
        $store = new BatchStore($queue, 'import-7');
        try {
            $store->hold(function (BatchLock $lock) use ($store): void {
                $this->travel('6s');
                $store->hold(static function (BatchLock $other): void {
                    $other->batch->stage = BatchStage::Closed;
                    $other->save();
                });
                $lock->save();
            });
            $this->fail('its lease is over');
        } catch (BatchHeld $error) {
            $this->assertSame("batch 'import-7' was taken over by another process, while this one stood still: call again", $error->getMessage());
        }
        $this->assertSame(BatchStage::Closed, $store->definition()->stage);
    }

    public function testTheMembersMayBeTasksOfARouter(): void
    {
        $queue = $this->delayQueue('imports');
        Batch::start($queue, 'import-7', [['payload' => ['task' => 'row', 'params' => 1], 'id' => 'row-1']], then: ['payload' => ['task' => 'all']]);
        $ran = [];
        $task = static function (mixed $params, $job) use (&$ran): void {
            $ran[] = $job->id;
        };
        $queue->drain(new TaskRouter(['row' => $task, 'all' => $task]));

        $this->assertSame(['row-1', 'import-7/then'], $ran);
    }

    public function testABatchOfASealedQueueIsSealed(): void
    {
        $keys = ['keys' => ['2030' => str_repeat('k', 32)]];
        $queue = $this->delayQueue('imports', $keys);
        Batch::start($queue, 'import-7', [...self::members(1), ...self::members(1, 'mail', 'mails')], self::THEN);
        $this->assertNotNull($this->delayQueue('batches')->peek('import-7')->sealError);
        try {
            Batch::of($this->delayQueue('imports'), 'import-7')->progress();
            $this->fail('it has no keys');
        } catch (SealException $error) {
            $this->assertStringContainsString("batch 'import-7' cannot be read, so its workers need the keys", $error->getMessage());
        }
        $plain = Batch::start($this->delayQueue('plain'), 'import-6', self::members(1));
        $this->assertSame([['import-7'], ['import-6']], [[...Batch::names($queue)], [...Batch::names($this->delayQueue('imports'))]]);
        $plain->cancel();
        self::served($queue);
        self::served($this->delayQueue('mails', $keys));

        $this->assertSame('all', $this->delayQueue('reports', $keys)->reserve()->payload);
        $this->assertSame(0, $this->delayQueue('batches')->stats()->buried + count($this->delayQueue('batches')));
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage('item 0: "queue" must have the same keys as queue \'imports\', or none, as that');
        Batch::start($queue, 'import-8', self::members(1, 'row', $this->delayQueue('plain')));
    }

    public function testABatchLiesUnderThePrefixOfItsQueue(): void
    {
        $queue = $this->delayQueue('imports', ['prefix' => 'shop', 'persistent' => false]);
        Batch::start($queue, 'import-7', self::members(1), self::THEN);
        $this->assertSame(['batches', 'imports'], $queue->queues());
        $this->assertSame([], $this->delayQueue()->queues());
        self::served($queue);

        $this->assertCount(1, $this->delayQueue('reports', ['prefix' => 'shop']));
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage('item 0: "queue" must be on the same Redis and under the same prefix as queue \'imports\'');
        Batch::start($queue, 'import-8', self::members(1, 'row', $this->delayQueue('imports')));
    }

    public function testAStartThatFillsItsQueueGoesOnWhenThereIsRoom(): void
    {
        $queue = $this->delayQueue('imports', ['capacity' => 600]);
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, 50)));
        try {
            Batch::start($queue, 'import-7', self::members(600), self::THEN);
            $this->fail('it is full');
        } catch (QueueFullException) {
            $this->assertCount(550, $queue);
        }
        self::served($queue, 500);

        Batch::start($queue, 'import-7', self::members(600), self::THEN);
        $this->assertCount(150, self::served($queue), 'none of them twice');
        $this->assertCount(1, $this->delayQueue('reports'));
    }
}
