<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Flow\Batch;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInfo;
use DelayQueue\JobInterface;
use DelayQueue\State;
use RuntimeException;
use ValueError;

/** The rules of batches. */
final class BatchTest extends BatchCase
{
    public function testThenComesOnceWhenTheLastMemberIsDone(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(3), then: self::THEN);
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

    public function testThenIsPushedWithItsOwnOptions(): void
    {
        $queue = $this->delayQueue('imports');
        $then = [
            'payload' => ["bytes \u{e4}"], 'queue' => 'reports', 'delay' => '1m', 'priority' => 7, 'ttr' => '30s', 'maxAttempts' => 3,
            'timeout' => 4, 'headers' => ['tenant' => 'acme'], 'group' => 'tenant-42', 'expires' => '1h', 'backoff' => Backoff::fixed(9),
        ];
        Batch::start($queue, 'import-7', self::members(1), then: $then);
        $queue->drain(new Follow(fn () => null));

        $job = $queue->sibling('reports')->peek('import-7/then');
        $this->assertSame([["bytes \u{e4}"], 7, 30.0, 3, 4.0], [$job->payload, $job->priority, $job->ttr, $job->maxAttempts, $job->timeout]);
        $this->assertSame([['tenant' => 'acme'], 'tenant-42'], [$job->headers, $job->group]);
        $this->assertEqualsWithDelta($queue->now() + 60, $job->dueAt, 5);
        $this->assertEqualsWithDelta($job->dueAt + 3600, $job->expiresAt, 1);
        $this->assertSame('fixed 9s', (string) $job->backoff);
    }

    public function testAMomentOfThenIsKept(): void
    {
        $queue = $this->delayQueue('imports');
        $moment = new DateTimeImmutable('@' . ((int) $queue->now() + 500));
        Batch::start($queue, 'import-7', self::members(1), then: ['payload' => 1, 'delay' => $moment]);
        $queue->drain(new Follow(fn () => null));

        $this->assertSame((float) $moment->format('U'), $queue->peek('import-7/then')->dueAt);
    }

    public function testPayloadsMayBeRaw(): void
    {
        $queue = $this->delayQueue('imports', ['format' => 'raw']);
        $members = [['payload' => "\xff", 'id' => 'row-1'], ['payload' => "\xfe", 'id' => 'row-2', 'queue' => $queue->sibling('other')]];
        Batch::start($queue, 'import-7', $members, then: ['payload' => "\x80\xff"]);
        $seen = [];
        $handler = new Follow(function (JobInterface $job) use (&$seen): void {
            $seen[] = bin2hex($job->payload);
        });
        $queue->sibling('other')->drain($handler);
        $queue->drain($handler);
        $this->assertSame(['fe', 'ff', '80ff'], $seen);
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
        Batch::start($queue, 'import-7', self::members(1), then: self::THEN);
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
        $batch = Batch::start($queue, 'import-7', self::members(3), then: self::THEN, onFailure: self::ALARM);
        $queue->drain(new Follow(fn (JobInterface $job) => $job->id === 'row-3' ? null : throw new Bury("no $job->id")));

        $alarm = $queue->sibling('alarms')->reserve();
        $this->assertSame(['import-7/onFailure', 'alas'], [$alarm->id, $alarm->payload]);
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

    public function testAnotherJobOfTheIdOfThenIsAnErrorUntilItIsGone(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1), then: self::THEN);
        $reports = $queue->sibling('reports');
        $reports->push('another', id: 'import-7/then');
        $queue->drain(new Follow(static fn () => null));
        $this->assertStringContainsString('import-7/then', (string) $queue->peek('row-1')?->lastError);
        $this->assertSame(0, $batch->progress()?->waiting);

        $reports->cancel('import-7/then');
        $batch->check();
        $this->assertSame('all', $reports->reserve()?->payload);
        $this->assertNull($batch->progress());
    }

    public function testAChainOfTheNameOfABatchTellsItsOwnFailure(): void
    {
        $queue = $this->delayQueue('imports');
        Chain::of(['payload' => 1, 'id' => 'import-7'])->onFailure(self::ALARM)->push($queue);
        Batch::start($queue, 'import-7', self::members(1), onFailure: self::ALARM);
        $queue->drain(new Follow(static fn () => throw new Bury('no')));

        $alarms = $queue->sibling(self::ALARM['queue'])->list(State::Ready);
        $told = array_map(static fn (JobInfo $alarm): array => array_keys(array_intersect_key($alarm->headers, [Chain::FAILURE => 1, Batch::FAILURE => 1])), $alarms);
        $this->assertEqualsCanonicalizing([[Chain::FAILURE], [Batch::FAILURE]], $told);
    }

    public function testCheckEndsMembersThatAreNowhereAndTellsOfBuriedOnes(): void
    {
        $queue = $this->delayQueue('imports');
        $members = [...self::members(250), ['payload' => 1, 'id' => 'late', 'queue' => 'late', 'expires' => '1s']];
        $batch = Batch::start($queue, 'import-7', $members, then: self::THEN, onFailure: self::ALARM);
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
        $batch = Batch::start($queue, 'import-7', self::members(1), then: self::THEN);
        $job = $queue->reserve();
        $batch->done($job);
        $job->ack();
        $this->assertCount(1, $queue->sibling('reports'));

        $this->expectException(ValueError::class);
        $this->expectExceptionMessage("::done(): Argument #1 (\$job) must be a member of batch 'import-8'");
        Batch::of($queue, 'import-8')->done($job);
    }

    public function testNamesAreThoseOfBatchesThatHaveNotEnded(): void
    {
        $queue = $this->delayQueue('imports');
        foreach (['b', 'a', '7'] as $name) {
            Batch::start($queue, $name, self::members(1, "of-$name"));
        }
        Batch::of($queue, 'b')->add(self::members(1, 'more'));
        $this->assertSame(['b', 'a', '7'], [...Batch::names($queue)], 'also one that was held since keeps its place');
        Batch::of($queue, 'b')->cancel();
        $queue->drain(new Follow(fn () => null), 1);
        $this->assertSame(['7'], [...Batch::names($queue->sibling('other'))]);
    }

    public function testNamesAndIdsMayLookLikeNumbers(): void
    {
        $queue = $this->delayQueue('imports');
        $jobs = array_map(static fn (int $n): array => ['payload' => $n, 'id' => "$n", 'queue' => '5'], range(0, 4));
        $batch = Batch::start($queue, '7', $jobs, then: ['payload' => 'all']);
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
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage('Batch::wait(): Argument #1 ($timeout) ');
        $batch->wait('soon');
    }

    public function testARepeatedEndPushesThenOnce(): void
    {
        $queue = $this->delayQueue('imports');
        Batch::start($queue, 'import-7', self::members(2), then: self::THEN);
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
}
