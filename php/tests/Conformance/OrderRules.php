<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DateInterval;
use DateTimeImmutable;
use DelayQueue\Job;
use DelayQueue\State;

/** In which order jobs are served and shown. */
trait OrderRules
{
    public function testJobsAreServedByPriorityThenDueTimeThenPush(): void
    {
        $queue = $this->queue();
        $queue->push('later', delay: 20);
        $queue->push('sooner', delay: 10);
        $queue->push('now');
        $queue->push('now, too');
        $queue->push('past', delay: new DateTimeImmutable('@1000'));
        $queue->push('not urgent', priority: 2000);
        $queue->push('urgent, delayed', delay: 5, priority: 1);
        $queue->push('urgent', priority: 1);

        $this->assertSame(['urgent', 'past', 'now', 'now, too', 'not urgent'], self::served($queue));
        $this->travel(30);
        $this->assertSame(['urgent, delayed', 'sooner', 'later'], self::served($queue));
    }

    public function testJobsOfTheVerySameMomentAreServedByTheirIds(): void
    {
        $moment = new DateTimeImmutable('2020-02-02 02:02:02.020202 UTC');
        foreach (['b', 'c', 'a', '10', '9'] as $id) {
            $this->queue()->push($id, delay: $moment, id: $id);
        }

        $this->assertSame(['10', '9', 'a', 'b', 'c'], self::served($this->queue()));
    }

    public function testABatchKeepsItsOrder(): void
    {
        $queue = $this->queue();
        $ids = $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, 1200)));

        $this->assertCount(1200, array_unique($ids));
        $this->assertMatchesRegularExpression('/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/D', $ids[0]);
        $this->assertSame(range(1, 1200), array_merge(...array_map(static fn (): array => self::batch($queue, 400), [1, 2, 3])));
        $this->assertSame(1200, $queue->ackMany(...array_values(self::$hands)));
    }

    public function testAJobIsNotServedBeforeItsTime(): void
    {
        $queue = $this->queue();
        $queue->push('a', delay: '15m', id: 'a');
        $queue->push('b', delay: new DateInterval('PT20M'), id: 'b');

        $this->assertNull($queue->reserve());
        $this->assertFalse($queue->wait(0));
        $this->travel('14m59s');
        $this->assertNull($queue->reserve());
        $this->travel(1);
        $this->assertTrue($queue->wait(0));
        $this->assertSame('a', $queue->reserve()?->id);
        $this->assertSame(State::Delayed, $queue->peek('b')?->state);
    }

    public function testWatchedQueuesAreServedOneAfterTheOther(): void
    {
        $this->queue('slow')->push('slow', priority: 0);
        $this->queue('quick')->push('quick');
        $queue = $this->queue('own')->watch('quick', 'slow', 'quick');
        $queue->push('own');

        $this->assertSame(['quick', 'slow'], self::served($queue));
        $this->assertSame(['own'], self::served($queue->watch()));
        $this->assertSame(['own', 'quick', 'slow'], $queue->queues());
    }

    public function testALoopGoesBackToTheFirstQueueForEachJob(): void
    {
        [$urgent, $normal] = [$this->queue('urgent'), $this->queue('normal')];
        foreach ([$normal, $urgent] as $queue) {
            $queue->pushMany([['payload' => 'a'], ['payload' => 'b']]);
        }
        $seen = [];
        $this->queue('own')->watch('urgent', 'normal')->consume(static function (Job $job) use (&$seen, $urgent): bool {
            $seen[] = "$job->queue $job->payload";
            count($seen) === 3 && $urgent->push('late');

            return $job->payload !== 'b';
        }, stopWhenEmpty: true);

        $this->assertSame(['urgent a', 'urgent b', 'normal a', 'urgent late', 'normal b'], $seen);
        $this->assertSame([2, 1, 1, 1], [$urgent->stats()->acked, $urgent->stats()->failed, $normal->stats()->acked, $normal->stats()->failed]);
    }

    public function testEachStateIsListedInItsOrder(): void
    {
        $queue = $this->queue();
        foreach (['a' => 30, 'b' => 20, 'c' => 10] as $id => $seconds) {
            $queue->push($id, delay: $seconds, id: $id);
            $queue->push($id, id: "ready-$id", priority: $seconds);
            $queue->push($id, id: "held-$id", ttr: $seconds);
            $queue->push($id, id: "buried-$id");
        }
        foreach (['a', 'c', 'b'] as $id) {
            $queue->reserveJob("held-$id");
            $queue->reserveJob("buried-$id")?->bury();
        }

        $this->assertSame(['c', 'b', 'a'], self::ids($queue, State::Delayed));
        $this->assertSame(['ready-c', 'ready-b', 'ready-a'], self::ids($queue, State::Ready));
        $this->assertSame(['held-c', 'held-b', 'held-a'], self::ids($queue, State::Reserved));
        $this->assertSame(['buried-a', 'buried-c', 'buried-b'], self::ids($queue, State::Buried));
        $this->assertSame(['c', 'ready-c', 'buried-a'], [$queue->peekDelayed()?->id, $queue->peekReady()?->id, $queue->peekBuried()?->id]);
        $this->assertSame(['b'], array_column(array_map(get_object_vars(...), $queue->list(State::Delayed, 1, 1)), 'id'));
        $this->assertSame([], $queue->list(State::Delayed, 3));
    }

    public function testTheClassicConsumerTakesByDueTimeAlone(): void
    {
        $queue = $this->queue();
        $this->assertTrue($queue->producer('b', 2000, ['n' => 1]));
        $this->assertTrue($queue->producer('a', 1000.5, ['n' => 2]));
        $this->assertTrue($queue->producer('b', 3000, ['n' => 3]));
        $queue->push(['n' => 4], priority: 1);

        $this->assertSame([['n' => 2]], $queue->consumer(2999));
        $this->assertSame([['n' => 3], ['n' => 4]], $queue->consumer());
        $this->assertSame(0, $queue->count());
        $this->assertSame(3, $queue->stats()->acked);

        $queue->producer('held', 1, []);
        $this->assertNotNull($queue->reserve());
        $this->assertSame("DuplicateJobException: job 'held' is already in queue 'rules'", self::thrown(static fn () => $queue->producer('held', 1, [])));
        foreach (range(1, 12) as $n) {
            $queue->producer("n$n", $n, [$n]);
        }
        $taken = [$queue->consumer(), $queue->consumer(limit: 1), $queue->consumer(null, 5)];
        $this->assertSame([range(1, 10), [11], [12]], array_map(static fn (array $messages): array => array_merge(...$messages), $taken));
    }

    public function testReadyJobsThatFailedBeforeAreTakenAlone(): void
    {
        $queue = $this->queue();
        $queue->push('expires', id: 'expires', ttr: 1);
        $queue->reserve();
        $this->travel(2);
        $queue->push('a');
        $queue->push('b');
        $queue->push('last chance', maxAttempts: 1);
        $queue->push('c');

        $batches = [];
        while ($jobs = $queue->reserveMany(10)) {
            $batches[] = array_column(array_map(get_object_vars(...), $jobs), 'payload');
            $queue->ackMany(...$jobs);
        }
        $this->assertSame([['expires'], ['a', 'b'], ['last chance'], ['c']], $batches);
    }
}
