<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\Internal\Moment;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\Search\Search;
use DelayQueue\Search\Tags;
use DelayQueue\State;

/** Changes of many jobs by a search. */
trait BulkRules
{
    public function testCancelRemovesWhatIsFoundInAnyState(): void
    {
        $queue = $this->queue();
        $tag = ['headers' => Tags::of('x')];
        $this->pushMany($queue, 450, static fn (int $n): array => ['delay' => 60] + ($n % 2 === 0 ? $tag : []));
        $queue->pushMany([['payload' => 1, 'id' => 'ready'] + $tag, ['payload' => 1, 'id' => 'held'] + $tag, ['payload' => 1, 'id' => 'other']]);
        $queue->reserveJob('held');
        $told = [];
        $search = Search::in($queue)->tag('x');
        $this->assertSame(227, $search->cancel(static function (int $done, int $read) use (&$told): void {
            $told[] = [$done, $read];
        }));
        $this->assertSame([227, 453], end($told));
        $this->assertGreaterThan(2, count($told));
        $this->assertSame([226, 0], [count($queue), $search->skipped()]);
        $this->assertSame(0, $search->cancel());
        $this->assertSame(3, Search::in($queue, State::Delayed)->limit(3)->cancel());
        $this->assertCount(223, $queue);
    }

    public function testALimitCountsNoJobASecondTime(): void
    {
        $queue = $this->queue();
        $this->pushMany($queue, 500, static fn (int $n): array => ['delay' => 60]);
        $this->pushMany($queue, 500, static fn (int $n): array => ['delay' => 7200, 'id' => "late-$n"]);
        $search = Search::in($queue, State::Delayed)->limit(700);
        $this->assertSame(700, $search->reschedule('1h'));
        $this->assertNotNull($search->next());
        $this->assertSame(1000, Search::in($queue, State::Delayed)->limit(1001)->reschedule('3h'));
    }

    public function testKickMakesBuriedJobsReadyWithAllAttempts(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 5);
        $queue->push(1, delay: 60, id: 'delayed');
        $this->assertSame(4, Search::in($queue)->limit(4)->kick(resetAttempts: false));
        $this->assertSame(1, Search::in($queue)->kick());
        $attempts = array_map(static fn (int $n): int => $queue->peek("job-$n")->attempts, range(1, 5));
        sort($attempts);
        $this->assertSame([0, 1, 1, 1, 1], $attempts);
        $this->assertSame(State::Delayed, $queue->peek('delayed')->state);
        $this->assertSame(1, Search::in($queue, State::Delayed)->kick());
        $this->assertSame(6, $queue->count(State::Ready));
    }

    public function testASpreadBringsBuriedJobsBackEvenlyInTheirOrder(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 60);
        $queue->push('other', delay: 5, id: 'other');
        $now = $queue->now();
        $this->assertSame(60, Search::in($queue)->error('no money')->kick(spread: '10m'));
        $times = array_map(static fn (int $n): float => $queue->peek("job-$n")->dueAt - $now, range(1, 60));
        sort($times);
        foreach ($times as $n => $time) {
            $this->assertEqualsWithDelta(10 * $n, $time, 5);
        }
        if ($this->partitions() === 1) {
            $this->assertLessThan($queue->peek('job-60')->dueAt, $queue->peek('job-1')->dueAt, 'the oldest first');
        }
        $this->assertSame(0, $queue->count(State::Buried));
        $this->travel('5m');
        $this->assertEqualsWithDelta(32, $queue->count(State::Ready), 2);
        $this->travel('5m');
        $this->assertSame(61, $queue->count(State::Ready));
    }

    public function testAPacedJobWithoutAttemptsGetsOneMore(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 1);
        $this->assertSame([1, 1], [$queue->peek('job-1')->attempts, $queue->peek('job-1')->maxAttempts]);
        Search::in($queue)->kick(spread: 1);
        $this->travel(1);
        $queue->reserve()->fail('again');
        $this->assertSame(State::Buried, $queue->peek('job-1')->state);
    }

    public function testRescheduleMovesEachJobOnceAndKeepsTheOrder(): void
    {
        $queue = $this->queue();
        $this->pushMany($queue, 450, static fn (int $n): array => ['delay' => 600 - $n]);
        $queue->push('x', id: 'ready');
        $queue->push('x', id: 'held');
        $held = $queue->reserveJob('held');
        $search = Search::in($queue);
        $now = $queue->now();
        $this->assertSame(451, $search->reschedule('1h'));
        $this->assertSame([0, 451], [$search->skipped(), $search->read()]);
        $this->assertSame(451, $queue->count(State::Delayed));
        $ids = array_column($queue->list(State::Delayed, 0, 500), 'id');
        if ($this->partitions() === 1) {
            $this->assertSame([...array_map(static fn (int $n): string => "job-$n", range(450, 1)), 'ready'], $ids);
        }
        $this->assertEqualsWithDelta($now + 3600, $queue->peek('job-1')->dueAt, 5);
        $held->ack();

        $this->assertSame(451, Search::in($queue, State::Delayed)->reschedule(0), 'they fall due behind the walk');
        $this->assertSame(451, $queue->count(State::Ready));
        $moment = Moment::of(round($queue->now()) + 99);
        $this->assertSame(451, Search::in($queue, State::Ready)->reschedule($moment));
        $this->assertSame([(float) $moment->format('U.u')], array_values(array_unique(array_column($queue->list(State::Delayed, 0, 500), 'dueAt'))));
    }

    public function testAJobThatAWorkerTakesBetweenTheLookAndTheActIsPassedOver(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'delay' => $n, 'id' => "job-$n"], range(1, 3)));
        $jobs = $queue->list(State::Delayed);
        $queue->reserveJob('job-2');
        // The page that the walk has read, a worker later.
        $late = $this->seenBefore($queue, ...$jobs);
        $search = Search::in($late, State::Delayed);
        $this->assertSame([2, 1], [$search->reschedule(60), $search->skipped()]);
        $this->assertSame(State::Reserved, $queue->peek('job-2')->state);
        $kick = Search::in($this->seenBefore($queue, ...$jobs), State::Delayed);
        $this->assertSame([2, 1], [$kick->kick(), $kick->skipped()]);
        $this->assertSame(State::Reserved, $queue->peek('job-2')->state);
    }

    private function bury(QueueInterface $queue, int $count): void
    {
        $this->pushMany($queue, $count, static fn (int $n): array => ['maxAttempts' => 1]);
        foreach (range(1, $count) as $n) {
            $queue->reserveJob("job-$n")->fail('no money');
        }
    }

    /** The queue, whose first page is what was seen before. */
    private function seenBefore(QueueInterface $queue, JobInfo ...$jobs): QueueInterface
    {
        return $this->interposed($queue, static function (string $method, callable $call) use (&$jobs): mixed {
            return $method === 'list' ? array_splice($jobs, 0) : $call();
        });
    }
}
