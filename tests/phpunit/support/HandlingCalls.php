<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use DateInterval;
use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\Release;
use LogicException;
use RuntimeException;
use Throwable;

/** The part of EveryCall that handles jobs: settling one in hand, and the loops. */
trait HandlingCalls
{
    /** @return array<string, callable(): void> */
    private function settling(): array
    {
        $settle = fn (callable $settle) => function () use ($settle): void {
            $this->held->push(['a' => 'job'], id: 'held', backoff: Backoff::exponential(1), maxAttempts: 2);
            $settle($this->held->reserve());
            $this->held->cancel('held');
        };

        return [
            'DelayQueue\Job::ack' => $settle(static fn (Job $job) => $job->ack()),
            'DelayQueue\Job::ack twice' => $settle(static function (Job $job): void {
                $job->ack();
                self::fails($job->ack(...))();
            }),
            'DelayQueue\Job::ack of a lost one' => $settle(function (Job $job): void {
                $this->held->cancel('held');
                self::fails($job->ack(...))();
            }),
            'DelayQueue\Job::release' => $settle(static fn (Job $job) => $job->release()),
            'DelayQueue\Job::release later' => $settle(static fn (Job $job) => $job->release(new DateInterval('PT5M'), 3)),
            'DelayQueue\Job::fail' => $settle(static fn (Job $job) => $job->fail()),
            'DelayQueue\Job::fail with an exception' => $settle(static fn (Job $job) => $job->fail(new LogicException("why\0not ü"))),
            'DelayQueue\Job::fail for the last time' => $settle(function (Job $job): void {
                $job->fail('first');
                $this->held->reserveJob('held')->fail('second');
            }),
            'DelayQueue\Job::bury' => $settle(static fn (Job $job) => $job->bury('reason')),
            'DelayQueue\Job::touch' => $settle(static fn (Job $job) => $job->touch() + $job->touch('5m')),
            'DelayQueue\Job::keepAlive' => $settle(static fn (Job $job) => $job->keepAlive() ?? $job->keepAlive('5m')),
            'DelayQueue\Job::update' => $settle(static fn (Job $job) => $job->update(['b' => 1]) ?? $job->update('c', ['n' => 'v', '7' => 'w'])),
            'DelayQueue\Job::update with a seal' => $settle(static fn (Job $job) => $job->update('c', ['n' => 'v'], ['alg' => 'a', 'key' => 'k', 'tag' => 't'])),
            'DelayQueue\Job::update with a wrong seal' => $settle(static fn (Job $job) => self::fails(fn () => $job->update('c', null, ['alg' => 'a', 'key' => 1]))()),
            'DelayQueue\Job::update with wrong headers' => $settle(static fn (Job $job) => self::fails(fn () => $job->update('c', ['n' => 1]))()),
            'DelayQueue\Job::deadlineSoon' => $settle(static fn (Job $job) => $job->deadlineSoon('2s')),
            'DelayQueue\Job::timeLeft' => $settle(static fn (Job $job) => $job->timeLeft()),
            'DelayQueue\Job::isSettled' => $settle(static fn (Job $job) => $job->isSettled()),
            'DelayQueue\Job::isLost' => $settle(static fn (Job $job) => $job->isLost()),
            'DelayQueue\Job::ack with its properties kept' => $settle(static function (Job $job): void {
                $kept = get_object_vars($job);
                foreach ($kept as $value) {
                    $all[] = $value;
                }
                $job->cycle ?? null;
            }),
        ];
    }

    /** @return array<string, callable(): void> */
    private function working(): array
    {
        $work = fn (callable $handler, mixed ...$options) => function () use ($handler, $options): void {
            $this->held->pushMany([['payload' => 1, 'id' => 'first'], ['payload' => [2], 'id' => 'second']]);
            $this->held->consume($handler, ...$options + ['stopWhenEmpty' => true]);
            $this->held->cancel('first', 'second');
        };

        $many = fn (mixed ...$options) => function () use ($options): void {
            $this->held->pushMany(array_map(static fn (int $n) => ['payload' => [$n]], range(1, 10)));
            $this->held->consume(static fn (Job $job) => $job->payload, ...$options + ['stopWhenEmpty' => true, 'prefetch' => 2]);
            $this->held->purge();
        };

        return [
            'DelayQueue::consume' => $work(static fn (Job $job) => $job->payload),
            'DelayQueue::consume several at once' => $work(static fn (Job $job, DelayQueue $queue) => $job->id, prefetch: 5, maxJobs: 2),
            'DelayQueue::consume without heartbeat' => $work(static fn () => null, heartbeat: false, idleTimeout: 0.1),
            'DelayQueue::consume by twos' => $many(),
            'DelayQueue::consume by twos, stopped' => $many(maxJobs: 7),
            'DelayQueue::consume without heartbeat' => $many(heartbeat: false),
            'DelayQueue::consume and keep alive' => $work(static fn (Job $job) => $job->keepAlive('1m'), heartbeat: false),
            'DelayQueue::consume with a time limit' => $work(static fn () => null, timeout: '5s', maxTime: 10, memoryLimit: '1G'),
            'DelayQueue::consume and fail' => $work(static fn () => throw new RuntimeException('no')),
            'DelayQueue::consume and throw' => $work(static fn () => throw new RuntimeException('broken')),
            'DelayQueue::consume and release' => $work(static fn () => throw new Release('1h')),
            'DelayQueue::consume and bury' => $work(static fn () => throw new Bury('bad')),
            'DelayQueue::consume and settle by oneself' => $work(static fn (Job $job) => $job->release('1h')),
            'DelayQueue::consume and stop' => $work(static fn (Job $job, DelayQueue $queue) => $queue->stop(), prefetch: 2),
            'DelayQueue::consume and push' => $work(function (Job $job, DelayQueue $queue): void {
                $this->queue->cancel($this->queue->push($job->payload));
            }),
            'DelayQueue::consume with a bad handler' => self::fails(fn () => $this->held->consume('no such function')),
            'DelayQueue::consume with a bad option' => self::fails(fn () => $this->held->consume(static fn () => 1, prefetch: 0)),
            'DelayQueue::consume while Redis is not there' => function (): void {
                self::fails(fn () => $this->offline->drain(static fn () => 1))();
            },
            'DelayQueue::drain' => function (): void {
                $this->held->push(1, id: 'first');
                $this->held->drain(static fn (Job $job) => $job->payload, 5);
            },
            'DelayQueue::on' => function (): void {
                $queue = new DelayQueue('held', $this->dsn, ['readTimeout' => 20]);
                foreach (Event::cases() as $event) {
                    $queue->on($event, static fn (Event $event, ?Job $job, ?Throwable $error) => [$job, $error]);
                }
                $queue->push(1, id: 'first');
                $queue->drain(static fn () => throw new RuntimeException('heard'));
                $queue->cancel('first');
            },
            'DelayQueue::on with a listener that holds its queue' => function (): void {
                $queue = new DelayQueue('held', $this->dsn, ['readTimeout' => 20]);
                $queue->on(Event::Idle, static fn () => $queue->count());
                unset($queue);
                gc_collect_cycles(); // only the collector finds a cycle
            },
        ];
    }
}
