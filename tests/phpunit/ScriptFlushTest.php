<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;

/** Redis forgets all scripts every few milliseconds, as after a restart or a failover, while everything goes on. */
final class ScriptFlushTest extends ProcessTestCase
{
    private const ROUNDS = 60;

    private const FLUSHES = 200;

    private Process $flusher;

    public function testNobodyNoticesThatRedisForgetsItsScripts(): void
    {
        $queue = $this->queue(['backoff' => DelayQueue\Backoff::fixed(0)]);
        $this->flusher = Php::program('flush_scripts.php', $this->redis->socket, '5');
        $this->flusher->hear('flushing');

        $pushed = $done = [];
        $flushes = fn (): int => $this->redis->calls('script|flush');
        for ($round = 0, $deadline = microtime(true) + 60; $round < self::ROUNDS || $flushes() < self::FLUSHES; $round++) {
            $this->assertLessThan($deadline, microtime(true), "{$flushes()} flushes in $round rounds");
            $pushed[] = $queue->push("single $round");
            array_push($pushed, ...$queue->pushMany(array_fill(0, 5, ['payload' => "batch $round"])));
            $pushed[] = $queue->push('urgent', priority: $round % 3);

            $job = $queue->reserve();
            $job->touch();
            $job->release();
            $job = $queue->reserveJob($job->id);
            $job->fail('again');
            $job = $queue->reserveJob($job->id);
            $job->bury();
            $this->assertSame(1, $queue->kick());
            $this->assertSame($job->id, $queue->peek($job->id)->id);

            $job = $queue->reserve(1);
            $job->ack();
            $done[] = $job->id;
            $jobs = $queue->reserveMany(6, 1);
            $this->assertSame(count($jobs), $queue->ackMany(...$jobs));
            array_push($done, ...array_map(static fn ($job) => $job->id, $jobs));
        }
        $this->flusher->kill();

        $this->assertSame(0, $queue->count());
        $this->assertSame(count($done), count(array_unique($done)), 'none was done twice');
        sort($pushed);
        sort($done);
        $this->assertSame($pushed, $done);
        $this->assertSame(count($done), $queue->stats()->acked);
        $this->assertSame(0, $queue->count(State::Buried));
    }

    public function testAWaitingReserveLearnsItsScriptAgain(): void
    {
        $queue = $this->queue();
        $worker = $this->remote();
        $this->flusher = Php::program('flush_scripts.php', $this->redis->socket, '5');
        $this->flusher->hear('flushing');
        for ($round = 0; $round < 30; $round++) {
            $worker->begin('reserve', 10);
            $id = $queue->push($round, delay: 0.02);
            $outcome = $worker->outcome();
            $this->assertSame($id, $outcome['result']['id'] ?? $outcome['message'] ?? null);
            $this->assertLessThan(
                3.0,
                Machine::without($outcome['seconds']),
                'the push woke it: by itself a waiter looks after four seconds',
            );
            $worker->call('ack');
        }
        $this->assertSame(0, $queue->count());
        $worker->kill();
    }
}
