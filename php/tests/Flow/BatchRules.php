<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\Bury;
use DelayQueue\Flow\Batch;
use DelayQueue\Flow\BatchClosed;
use DelayQueue\Flow\BatchHeld;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use RuntimeException;

/** The rules of batches, on Redis and in memory. */
trait BatchRules
{
    public function testThenComesOnceWhenTheLastMemberIsDone(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(3), then: ['payload' => 'all', 'queue' => 'reports']);
        $reports = $queue->sibling('reports');

        $this->assertSame([3, 0, 3, 0.0], self::figures($batch));
        $this->assertSame(2, $queue->drain(new Follow(fn () => null), 2));
        $this->assertSame([3, 2, 1, 2 / 3], self::figures($batch));
        $this->assertCount(0, $reports);

        $queue->drain(new Follow(fn () => null));

        $this->assertSame('all', $reports->peek('import-7/then')->payload);
        $this->assertNull($batch->progress());
        $this->assertCount(0, $queue->sibling('batches'));
        $this->assertTrue($batch->wait(0));
    }

    public function testThenIsPushedWithItsOwnIdAndOptions(): void
    {
        $queue = $this->delayQueue('imports');
        $then = [
            'payload' => ["bytes \u{e4}"], 'id' => 'report', 'queue' => 'reports', 'delay' => '1m', 'priority' => 7, 'ttr' => '30s', 'maxAttempts' => 3, 'timeout' => 4,
            'headers' => ['tenant' => 'acme'], 'group' => 'tenant-42', 'expires' => '1h', 'backoff' => \DelayQueue\Backoff::fixed(9),
        ];
        Batch::start($queue, 'import-7', self::members(1), then: $then);
        $queue->drain(new Follow(fn () => null));

        $job = $queue->sibling('reports')->peek('report');
        $this->assertSame([["bytes \u{e4}"], 7, 30.0, 3, 4.0, ['tenant' => 'acme'], 'tenant-42'], [$job->payload, $job->priority, $job->ttr, $job->maxAttempts, $job->timeout, $job->headers, $job->group]);
        $this->assertEqualsWithDelta($queue->now() + 60, $job->dueAt, 5);
        $this->assertEqualsWithDelta($job->dueAt + 3600, $job->expiresAt, 1);
        $this->assertSame('fixed 9s', (string) $job->backoff);
    }

    public function testAMomentOfThenIsKept(): void
    {
        $queue = $this->delayQueue('imports');
        $moment = new \DateTimeImmutable('@' . ((int) $queue->now() + 500));
        Batch::start($queue, 'import-7', self::members(1), then: ['payload' => 1, 'delay' => $moment]);
        $queue->drain(new Follow(fn () => null));

        $this->assertSame((float) $moment->format('U'), $queue->peek('import-7/then')->dueAt);
    }

    public function testABatchWithoutMembersEndsAtOnce(): void
    {
        $queue = $this->delayQueue('imports');
        Batch::start($queue, 'import-7', [], then: ['payload' => 'all']);

        $this->assertSame('all', $queue->reserve()->payload);
        $this->assertCount(0, $queue->sibling('batches'));
    }

    public function testMembersOfSeveralQueuesWithPartitionsCountTogether(): void
    {
        $queue = $this->delayQueue('imports');
        $wide = $queue->sibling('wide', ['partitions' => 4]);
        $members = [...self::members(3), ...self::members(8, 'wide', $wide), ...self::members(2, 'mail', 'mails')];
        Batch::start($queue, 'import-7', $members, then: ['payload' => 'all', 'queue' => $queue->sibling('reports', ['partitions' => 3])]);

        $handler = new Follow(fn () => null);
        $queue->drain($handler);
        // Its worker knows nothing of other queues' partitions.
        $this->delayQueue('wide', ['partitions' => 4])->drain($handler);
        $this->assertCount(0, $queue->sibling('reports', ['partitions' => 3]));
        $this->delayQueue('mails', ['partitions' => 2])->drain($handler);

        $this->assertSame('all', $this->delayQueue('reports', ['partitions' => 3])->reserve()->payload);
        $this->assertCount(0, $queue->sibling('batches'));
    }

    public function testAMemberThatFailsKeepsTheBatchOpenUntilItIsDone(): void
    {
        $queue = $this->delayQueue('imports');
        Batch::start($queue, 'import-7', self::members(1), then: ['payload' => 'all', 'queue' => 'reports']);
        $fails = true;
        $handler = new Follow(function () use (&$fails): void {
            $fails && throw new RuntimeException('not now');
        });
        $queue->drain($handler);
        $this->assertCount(0, $queue->sibling('reports'));

        $fails = false;
        $this->travel('1h');
        $queue->drain($handler);
        $this->assertCount(1, $queue->sibling('reports'));
    }

    public function testTheFirstBuriedMemberPushesOnFailureAndAKickClosesTheBatch(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(3), then: ['payload' => 'all', 'queue' => 'reports'], onFailure: ['payload' => 'alas', 'queue' => 'alarms']);
        $queue->drain(new Follow(fn (JobInterface $job) => $job->id === 'row-3' ? null : throw new Bury("no $job->id")));

        $alarm = $queue->sibling('alarms')->reserve();
        $this->assertSame(['import-7/failed', 'alas'], [$alarm->id, $alarm->payload]);
        $failure = Batch::failure($alarm);
        $this->assertSame(['import-7', 'row-1', 'imports'], [$failure['batch'], $failure['id'], $failure['queue']]);
        $this->assertStringContainsString('no row-1', $failure['error']);
        $alarm->ack();
        $this->assertCount(0, $queue->sibling('alarms'), 'once');
        $this->assertSame([3, 1, 2, 1 / 3], self::figures($batch));

        $queue->kick(10);
        $queue->drain(new Follow(fn () => null));
        $this->assertCount(1, $queue->sibling('reports'));
        $this->assertNull(Batch::failure($queue->sibling('reports')->reserve()));
    }

    public function testACancelledMemberCountsAsDone(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(3), then: ['payload' => 'all', 'queue' => 'reports']);
        $queue->drain(new Follow(fn () => throw new Bury()), 2);

        $this->assertSame(2, $batch->cancelMember('row-1', 'row-2', 'nobody'));
        $this->assertSame(0, $batch->cancelMember('row-1'));
        $this->assertCount(1, $queue);
        $this->assertSame(1, $batch->cancelMember('row-3'));
        $this->assertCount(0, $queue);
        $this->assertCount(1, $queue->sibling('reports'));
    }

    public function testACancelledBatchLeavesNothingAndNothingFollows(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', [...self::members(250), ...self::members(3, 'mail', 'mails')], then: ['payload' => 'all', 'queue' => 'reports']);
        $queue->push('other', id: 'other');
        $running = new Follow(function (JobInterface $job) use ($batch): void {
            $this->assertSame('row-1', $job->id);
            $this->assertSame(253, $batch->cancel());
        });
        $queue->drain($running, 1);

        $this->assertSame(0, $batch->cancel());
        $this->assertNull($batch->progress());
        $this->assertCount(1, $queue);
        foreach (['mails', 'batches', 'reports'] as $name) {
            $this->assertCount(0, $queue->sibling($name), $name);
        }
    }

    public function testAHandlerAddsMembersThatThenWaitsFor(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1), then: ['payload' => 'all', 'queue' => 'reports']);
        $queue->drain(new Follow(function (JobInterface $job) use ($batch, $queue): void {
            $this->assertCount(0, $queue->sibling('reports'));
            if ($job->id === 'row-1') {
                $this->assertSame(2, $batch->add([...self::members(1, 'more'), ...self::members(1, 'mail', 'mails')]));
                $this->assertSame([3, 0, 3, 0.0], self::figures($batch));
            }
        }));
        $this->assertSame([3, 2, 1, 2 / 3], self::figures($batch));
        $queue->sibling('mails')->drain(new Follow(fn () => null));

        $this->assertCount(1, $queue->sibling('reports'));
        $this->assertSame(0, $batch->add([]));
        $this->expectException(BatchClosed::class);
        $this->expectExceptionMessage("batch 'import-7' takes no more members: it has ended, or was cancelled");
        $batch->add(self::members(1, 'late'));
    }

    public function testTheSameMembersAreAddedOnceAlsoAfterTheyAreDone(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1, 'slow', 'slow'), then: ['payload' => 'all', 'queue' => 'reports']);
        $this->assertSame(3, $batch->add(self::members(3)));
        $this->assertSame(1, $batch->add(self::members(4)), 'three are there');
        $queue->drain(new Follow(fn () => null), 2);

        $this->assertSame(0, $batch->add(self::members(4)));
        $this->assertSame(2, $queue->drain(new Follow(fn () => null)), 'the two that were left');
        $this->assertSame([5, 4, 1, 0.8], self::figures($batch));
    }

    public function testARepeatedStartChangesNothing(): void
    {
        $queue = $this->delayQueue('imports');
        $start = fn (int $members): Batch => Batch::start($queue, 'import-7', self::members($members), then: ['payload' => 'all', 'queue' => 'reports']);
        $start(3);
        $queue->drain(new Follow(fn () => null), 1);
        $this->assertSame([3, 1, 2, 1 / 3], self::figures($start(3)));
        $this->assertCount(2, $queue);

        try {
            $start(4);
            $this->fail('other members');
        } catch (\ValueError $error) {
            $this->assertStringContainsString("must be of this batch alone, 'import-7' is that of a batch with other members", $error->getMessage());
        }
        $queue->drain(new Follow(fn () => null));
        try {
            $start(3);
            $this->fail('it has ended');
        } catch (\ValueError $error) {
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
            Batch::start($queue, 'import-7', self::members(3), then: ['payload' => 'all', 'queue' => 'reports']);
            $this->fail('row-2 is taken');
        } catch (\DelayQueue\DuplicateJobException $error) {
            $this->assertStringContainsString("job 'row-2' is in queue 'imports' already, and is no member of batch 'import-7'", $error->getMessage());
        }
        $batch = Batch::of($queue, 'import-7');
        try {
            $batch->check();
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

    public function testCheckEndsMembersThatAreNowhereAndTellsOfBuriedOnes(): void
    {
        $queue = $this->delayQueue('imports');
        $members = [...self::members(250), ['payload' => 1, 'id' => 'late', 'queue' => 'late', 'expires' => '1s']];
        $batch = Batch::start($queue, 'import-7', $members, then: ['payload' => 'all', 'queue' => 'reports'], onFailure: ['payload' => 'alas', 'queue' => 'alarms']);
        $queue->cancel(...array_map(static fn (int $n): string => "row-$n", range(1, 249)));
        $this->travel('2s');
        $queue->sibling('late')->drain(new Follow(fn () => null));
        $this->assertSame(State::Buried, $queue->sibling('late')->peek('late')->state);

        $this->assertSame(249, $batch->check());
        $this->assertSame(0, $batch->check());
        $this->assertSame('late', Batch::failure($queue->sibling('alarms')->reserve())['id']);
        $this->assertSame([251, 249, 2, 249 / 251], self::figures($batch));
        $queue->purge();
        $queue->sibling('late')->purge();
        $this->assertSame(2, $batch->check());
        $this->assertCount(1, $queue->sibling('reports'));
        $this->assertSame(0, $batch->check(), 'it has ended');
    }

    public function testALoopOfItsOwnSaysDone(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1), then: ['payload' => 'all', 'queue' => 'reports']);
        $job = $queue->reserve();
        $batch->done($job);
        $job->ack();
        $this->assertCount(1, $queue->sibling('reports'));

        $this->expectException(\ValueError::class);
        $this->expectExceptionMessage("::done(): Argument #1 (\$job) must be a member of batch 'import-8'");
        Batch::of($queue, 'import-8')->done($job);
    }

    public function testNamesAreThoseOfBatchesThatHaveNotEnded(): void
    {
        $queue = $this->delayQueue('imports');
        foreach (['b', 'a', '7'] as $name) {
            Batch::start($queue, $name, self::members(1, "of-$name"));
        }
        $this->assertSame(['b', 'a', '7'], [...Batch::names($queue)]);
        Batch::of($queue, 'b')->cancel();
        $queue->drain(new Follow(fn () => null), 1);
        $this->assertSame(['7'], [...Batch::names($queue->sibling('other'))]);
    }

    public function testNamesAndIdsMayLookLikeNumbers(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, '7', array_map(static fn (int $n): array => ['payload' => $n, 'id' => "$n", 'queue' => '5'], range(0, 4)), then: ['payload' => 'all']);
        $queue->sibling('5')->cancel('0');
        $this->assertSame(1, $batch->check());
        $this->assertSame(1, $batch->cancelMember('1'));
        $this->assertSame(1, $batch->add([['payload' => 9, 'id' => '9', 'queue' => '5']]));
        $queue->sibling('5')->drain(new Follow(fn () => null), 3);
        $this->assertSame([6, 5, 1, 5 / 6], self::figures($batch));
        $this->assertSame(1, $batch->cancel());
        $this->assertSame([0, 0], [count($queue->sibling('5')), count($queue->sibling('batches'))]);
    }

    public function testWaitGivesUp(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1));
        $this->assertFalse($batch->wait('20ms'));
        $this->expectException(\ValueError::class);
        $this->expectExceptionMessage('Batch::wait(): Argument #1 ($timeout) ');
        $batch->wait('soon');
    }

    public function testARepeatedEndPushesThenOnce(): void
    {
        $queue = $this->delayQueue('imports');
        Batch::start($queue, 'import-7', self::members(2), then: ['payload' => 'all', 'queue' => 'reports']);
        $one = $queue->reserve();
        $two = $queue->reserve();
        $batch = Batch::of($queue, 'import-7');
        $batch->done($one);
        $batch->done($two);
        $queue->sibling('reports')->reserve()->ack();
        $batch->done($two);
        $batch->done($one);

        $this->assertCount(0, $queue->sibling('reports'));
        $this->assertCount(0, $queue->sibling('batches'));
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
        } catch (\ValueError $error) {
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
    #[\PHPUnit\Framework\Attributes\DataProvider('wrong')]
    public function testNothingIsSentOfAWrongBatch(string $must, string $name, array $jobs, ?array $then = null, ?array $onFailure = null): void
    {
        $queue = $this->delayQueue('imports');
        $queue->push('old', id: 'taken');
        $queue->push('old', id: 'done', unique: '1h');
        $queue->cancel('done');
        try {
            Batch::start($queue, $name, $jobs, $then, $onFailure);
            $this->fail('accepted');
        } catch (\ValueError | \TypeError $error) {
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
            'an unknown key' => ['#3 ($jobs) item 0 has the key "onDuplicate"', 'b', [$one[0] + ['onDuplicate' => \DelayQueue\OnDuplicate::Keep]]],
            'a job that vanishes' => ['item 0: "onExpiry" must not be OnExpiry::Drop', 'b', [$one[0] + ['expires' => '1s', 'onExpiry' => \DelayQueue\OnExpiry::Drop]]],
            'a member of a batch' => ['item 0: "headers" must not have dq-batch', 'b', [$one[0] + ['headers' => ['dq-batch' => 'c']]]],
            'a wrong delay' => ['item 0: "delay" must ', 'b', [$one[0] + ['delay' => 'soon']]],
            'a wrong type' => ['item 0: "priority" must be of type ?int, string given', 'b', [$one[0] + ['priority' => 'high']]],
            'a wrong payload' => ['item 0: ', 'b', [['id' => 'a', 'payload' => "\xff"]]],
            'a wrong queue' => ['item 0: "queue" must ', 'b', [$one[0] + ['queue' => 'a b']]],
            'no queue' => ['item 0: "queue" must be of type DelayQueue\QueueInterface|string, int given', 'b', [$one[0] + ['queue' => 5]]],
            'the queue of batches' => ['item 0: "queue" must not be \'batches\'', 'b', [$one[0] + ['queue' => 'batches']]],
            'a wrong then' => ['#4 ($then): "delay" must ', 'b', $one, $job + ['delay' => 'soon']],
            'then without payload' => ['#4 ($then): "payload" must be given', 'b', $one, ['id' => 'x']],
            'then that is there' => ['#4 ($then): its id \'taken\' is taken in queue \'imports\'', 'b', $one, $job + ['id' => 'taken']],
            'then that was there' => ['#4 ($then): its id \'done\' is taken', 'b', $one, $job + ['id' => 'done']],
            'onFailure that was there' => ['#5 ($onFailure): its id \'done\' is taken', 'b', $one, $job, $job + ['id' => 'done']],
            'then and onFailure alike' => ['#5 ($onFailure): "id" must not be that of $then', 'b', $one, $job + ['id' => 'x'], $job + ['id' => 'x']],
            'a member like then' => ['item 0: "id" must not be that of a job that the batch pushes later', 'b', [$job + ['id' => 'b/then']], $job],
            'headers without room' => ['#5 ($onFailure): "headers" must ', 'b', $one, null, $job + ['headers' => ['x' => str_repeat('x', 6000)]]],
        ];
    }

    /** @return list<array<string, mixed>> */
    private static function members(int $count, string $name = 'row', string|QueueInterface|null $queue = null): array
    {
        return array_map(static fn (int $n): array => ['payload' => $n, 'id' => "$name-$n"] + ($queue === null ? [] : ['queue' => $queue]), range(1, $count));
    }

    /** @return list<mixed> */
    private static function figures(Batch $batch): array
    {
        $progress = $batch->progress();

        return [$progress->total, $progress->done, $progress->waiting, $progress->share];
    }
}
