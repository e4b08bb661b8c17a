<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\DuplicateJobException;
use DelayQueue\Flow\Batch;
use DelayQueue\Flow\BatchHeld;
use DelayQueue\Flow\Follow;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\State;
use PHPUnit\Framework\Attributes\DataProvider;
use TypeError;
use ValueError;

/** Batches that are started again, and that are not started. */
final class BatchStartTest extends BatchCase
{
    public function testARepeatedStartChangesNothing(): void
    {
        $queue = $this->delayQueue('imports');
        $start = fn (int $members): Batch => Batch::start($queue, 'import-7', self::members($members), then: self::THEN);
        $start(3);
        $queue->drain(new Follow(fn () => null), 1);
        $this->assertSame([3, 1, 2, 1 / 3], self::figures($start(3)));
        $this->assertCount(2, $queue);

        try {
            $start(4);
            $this->fail('other members');
        } catch (ValueError $error) {
            $this->assertStringContainsString("must be of this batch alone, 'import-7' is that of a batch with other members", $error->getMessage());
        }
        $queue->drain(new Follow(fn () => null));
        try {
            $start(3);
            $this->fail('it has ended');
        } catch (ValueError $error) {
            $this->assertStringContainsString('Argument #2 ($name) must be of this batch alone', $error->getMessage());
            $this->assertStringContainsString('has ended, or was cancelled, within the last 30 days', $error->getMessage());
        }
        $this->assertCount(0, $queue);
        $this->assertCount(1, $queue->sibling('reports'));
    }

    public function testAJobThatHasTheIdOfAMemberIsNamedAndStartGoesOnWhenItIsGone(): void
    {
        $queue = $this->delayQueue('imports');
        $queue->push('other', id: 'row-2');
        try {
            Batch::start($queue, 'import-7', self::members(3), then: self::THEN);
            $this->fail('row-2 is taken');
        } catch (DuplicateJobException $error) {
            $this->assertStringContainsString("job 'row-2' is in queue 'imports' already, and is no member of batch 'import-7'", $error->getMessage());
        }
        $batch = Batch::of($queue, 'import-7');
        $this->assertSame(0, $batch->check(), 'a loop over all batches goes on');
        $this->assertSame([3, 0, 3, 0.0], self::figures($batch));
        try {
            $batch->cancelMember('row-1');
            $this->fail('start() has not ended');
        } catch (BatchHeld $error) {
            $this->assertStringContainsString('call that again', $error->getMessage());
        }
        $queue->drain(new Follow(fn () => null));
        $this->assertCount(0, $queue->sibling('reports'));

        Batch::start($queue, 'import-7', self::members(3));
        $this->assertSame(3, $queue->drain(new Follow(fn () => null)));
        $this->assertSame('all', $queue->sibling('reports')->reserve()->payload, 'as the first start() said it');
    }

    public function testAJobThatHasTheIdOfAMemberIsNotCancelledWithTheBatch(): void
    {
        $queue = $this->delayQueue('imports');
        Batch::start($queue, 'import-6', self::members(1), then: self::THEN);
        $queue->push('other', id: 'row-2');
        try {
            Batch::start($queue, 'import-7', self::members(3));
            $this->fail('two are taken');
        } catch (DuplicateJobException) {
        }
        $batch = Batch::of($queue, 'import-7');
        $batch->cancel();

        $this->assertNull($batch->progress());
        $this->assertSame(['row-1', 'row-2'], array_column($queue->list(State::Ready), 'id'));
        $this->assertSame([1, 0, 1, 0.0], self::figures(Batch::of($queue, 'import-6')));
    }

    public function testNothingIsSentOfAMillionMembers(): void
    {
        $queue = $this->delayQueue('imports');
        $read = 0;
        $million = (function () use (&$read): iterable {
            for ($n = 0; $n < 1_000_000; $n++) {
                $read++;
                yield ['payload' => $n, 'id' => "row-$n"];
            }
        })();
        try {
            Batch::start($queue, 'import-7', $million);
            $this->fail('too many');
        } catch (ValueError $error) {
            $this->assertSame(Batch::class . '::start(): Argument #3 ($jobs) must have at most 100000 jobs', $error->getMessage());
        }
        $this->assertSame(100_001, $read);
        $this->assertSame([0, 0], [count($queue), count($queue->sibling('batches'))]);
    }

    /**
     * @param array<string, mixed>|null $then
     * @param array<string, mixed>|null $onFailure
     *
     * @dataProvider wrong
     */
    #[DataProvider('wrong')]
    public function testNothingIsSentOfAWrongBatch(string $must, string $name, array $jobs, ?array $then = null, ?array $onFailure = null): void
    {
        $queue = $this->delayQueue('imports');
        $queue->push('old', id: 'taken');
        $queue->push('old', id: 'done', unique: '1h');
        $queue->cancel('done');
        try {
            Batch::start($queue, $name, $jobs, $then, $onFailure);
            $this->fail('accepted');
        } catch (ValueError | TypeError $error) {
            $this->assertStringContainsString($must, $error->getMessage());
            $this->assertStringStartsWith(Batch::class . '::start(): Argument #', $error->getMessage());
        }
        $this->assertSame([1, 0], [count($queue), count($queue->sibling('batches'))]);
        $this->assertSame([], $queue->sibling('batches')->takenIds());
    }

    /** @return array<string, array<mixed>> */
    public static function wrong(): array
    {
        $job = ['payload' => 1];
        $one = [$job + ['id' => 'a']];

        return [
            'no name' => ['#2 ($name) must not be empty', '', $one],
            'a slash' => ['#2 ($name) must be UTF-8, without control characters and slashes', 'a/b', $one],
            'a control character' => ['#2 ($name) must be UTF-8', "a\nb", $one],
            'bytes' => ['#2 ($name) must be UTF-8', "\xff", $one],
            'a long name' => ['#2 ($name) must be at most 190 bytes long', str_repeat('n', 191), $one],
            'no id' => ['#3 ($jobs) item 1: "id" must be given', 'b', [...$one, $job]],
            'an empty id' => ['#3 ($jobs) item 0: "id" must be given', 'b', [$job + ['id' => '']]],
            'twice an id' => ['#3 ($jobs) item 1: "id" must not be that of another member', 'b', [...$one, $job + ['id' => 'a', 'queue' => 'other']]],
            'a long id' => ['#3 ($jobs) item 0: "id" must be at most 198 bytes long', 'b', [$job + ['id' => str_repeat('i', 199)]]],
            'no payload' => ['#3 ($jobs) item 0: "payload" must be given', 'b', [['id' => 'a']]],
            'no array' => ['#3 ($jobs) item 0 must be of type array, string given', 'b', ['a']],
            'an unknown key' => ['#3 ($jobs) item 0 must not have the key "onDuplicate"', 'b', [$one[0] + ['onDuplicate' => OnDuplicate::Keep]]],
            'a job that vanishes' => ['item 0: "onExpiry" must not be OnExpiry::Drop', 'b', [$one[0] + ['expires' => '1s', 'onExpiry' => OnExpiry::Drop]]],
            'a member of a batch' => ['item 0: "headers" must not have dq-batch', 'b', [$one[0] + ['headers' => ['dq-batch' => 'c']]]],
            'a wrong delay' => ['item 0: "delay" must ', 'b', [$one[0] + ['delay' => 'soon']]],
            'a wrong type' => ['item 0: "priority" must be of type ?int, string given', 'b', [$one[0] + ['priority' => 'high']]],
            'a wrong payload' => ['item 0: ', 'b', [['id' => 'a', 'payload' => "\xff"]]],
            'a wrong queue' => ['item 0: "queue" must ', 'b', [$one[0] + ['queue' => 'a b']]],
            'no queue' => ['item 0: "queue" must be of type DelayQueue\QueueInterface|string, int given', 'b', [$one[0] + ['queue' => 5]]],
            'the queue of batches' => ['item 0: "queue" must not be \'batches\'', 'b', [$one[0] + ['queue' => 'batches']]],
            'a wrong then' => ['#4 ($then): "delay" must ', 'b', $one, $job + ['delay' => 'soon']],
            'then without payload' => ['#4 ($then): "payload" must be given', 'b', $one, ['delay' => 1]],
            'then with an id' => ['#4 ($then) must not have the key "id"', 'b', $one, $job + ['id' => 'x']],
            'onFailure with an id' => ['#5 ($onFailure) must not have the key "id"', 'b', $one, $job, $job + ['id' => 'x']],
            'then that vanishes' => ['#4 ($then): "onExpiry" must not be OnExpiry::Drop', 'b', $one, $job + ['onExpiry' => OnExpiry::Drop]],
            'the queue of chains' => ['item 0: "queue" must not be \'chains\'', 'b', [$one[0] + ['queue' => 'chains']]],
            'a member like then' => ['item 0: "id" must not be that of a job that the batch pushes later', 'b', [$job + ['id' => 'b/then']], $job],
            'headers without room' => ['#5 ($onFailure): "headers" must ', 'b', $one, null, $job + ['headers' => ['x' => str_repeat('x', 6000)]]],
        ];
    }
}
