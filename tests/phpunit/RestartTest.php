<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\ConnectionException;
use DelayQueue\ServerException;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Relay;
use DelayQueue\Tests\Support\Remote;
use DelayQueue\Tests\Support\Wait;

/** Redis is killed and comes back with what it had written down. */
final class RestartTest extends ProcessTestCase
{
    private const RESTARTS = 4;

    /** @var list<Process> */
    private array $children = [];

    protected function redisOptions(): array
    {
        return ['appendonly' => 'yes', 'appendfsync' => 'always'];
    }

    protected function tearDown(): void
    {
        foreach ($this->children as $child) {
            $child->kill();
        }
        parent::tearDown();
    }

    public function testWhatWasAcceptedIsExecuted(): void
    {
        $folder = $this->redis->folder->path;
        [$pushed, $executed] = ["$folder/pushed", "$folder/executed"];
        $dsn = $this->redis->dsn();
        foreach (['patient' => '10', 'hasty' => '0.1'] as $who => $timeout) {
            $this->children[] = Php::program('produce.php', $dsn, $this->queueName, $pushed, $who, $timeout);
        }
        for ($n = 0; $n < 2; $n++) {
            $this->children[] = Php::program('consume.php', $dsn, $this->queueName, $executed, '1000');
        }
        for ($restart = 1; $restart <= self::RESTARTS; $restart++) {
            $this->untilItGrows($pushed, 8_000);
            $this->untilItGrows($executed, 8_000);
            $this->redis->kill();
            // The second and the fourth time it is gone for longer than the hasty producer waits.
            usleep($restart % 2 === 0 ? 300_000 : 1_000);
            $this->redis->start();
        }
        $this->untilItGrows($pushed, 5_000);
        foreach (array_slice($this->children, 0, 2) as $producer) {
            $producer->kill();
        }
        $queue = $this->queue();
        Wait::until(fn () => $queue->count() === 0, 60, 'everything is done');

        $became = ['accepted' => [], 'ambiguous' => [], 'refused' => []];
        foreach (file($pushed, FILE_IGNORE_NEW_LINES) as $line) {
            [$outcome, $id] = explode(' ', $line);
            $became[$outcome][] = $id;
        }
        $executions = file($executed, FILE_IGNORE_NEW_LINES);
        $done = array_unique(array_map(static fn (string $line) => strtok($line, ' '), $executions));
        $this->assertSame([], array_values(array_diff($became['accepted'], $done)), 'accepted and lost');
        $this->assertSame([], array_values(array_intersect($became['refused'], $done)), 'refused and executed');
        $uncertain = array_diff($done, $became['accepted'], $became['ambiguous']);
        // The push that a producer was killed in has no line.
        $this->assertLessThanOrEqual(2, count($uncertain), implode(' ', $uncertain));
        $this->assertGreaterThan(1000, count($became['accepted']));
        $this->assertNotEmpty($became['refused'], 'the hasty one met a Redis that was away');
        $patient = preg_grep('/^patient/', [...$became['refused'], ...$became['ambiguous']]);
        $this->assertSame([], array_values($patient), 'the patient one noticed nothing');
        // Twice only what was executed while Redis was away, or had to be given up with its lease.
        $this->assertLessThanOrEqual(self::RESTARTS * 8 + $queue->stats()->timedOut, count($executions) - count($done));
    }

    public function testAWaitingReserveOutlivesAQuickRestart(): void
    {
        $worker = $this->remote();
        $worker->begin('reserve', 20);
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 5, 'it waits');
        $this->redis->kill();
        usleep(200_000);
        $this->redis->start();
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 5, 'it waits again');
        $this->queue()->push('after the restart');

        $outcome = $worker->outcome();
        $this->assertSame('after the restart', $outcome['result']['payload'] ?? $outcome['message'] ?? null);
        $worker->call('ack');
        $worker->kill();
    }

    public function testAWaitingReserveGivesUpWithinItsDeadlineAndGoesOnAfterwards(): void
    {
        $worker = $this->remote(['readTimeout' => 0.5]);
        $worker->begin('reserve', 20);
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 5, 'it waits');
        $this->redis->kill();
        $killed = microtime(true);

        $outcome = $worker->outcome();
        $this->assertSame(ConnectionException::class, $outcome['thrown'] ?? $outcome['result']);
        $this->assertLessThan(5.0, Machine::lasted($killed));
        $again = $worker->attempt('reserve', 20);
        $this->assertSame(ConnectionException::class, $again['thrown'] ?? $again['result']);
        $this->assertLessThan(
            5.0,
            Machine::without($again['seconds']),
            'a Redis that is not there at all is told in time',
        );

        $this->redis->start();
        $this->queue()->push('after the restart');
        $this->assertSame('after the restart', $worker->call('reserve', 20)['payload']);
        $worker->kill();
    }

    public function testAPushWhoseAnswerIsLostIsAmbiguousAndOneThatWasNotSentIsNot(): void
    {
        $relay = new Relay($this->redis);
        $queue = new DelayQueue($this->queueName, $relay->dsn(), ['readTimeout' => 0.5]);
        $queue->push('warm', id: 'warm');
        $relay->holdReplies();
        $started = microtime(true);
        $ambiguous = $this->thrownBy(fn () => $queue->push('applied', id: 'applied'));
        $this->assertTrue($ambiguous->ambiguous);
        $this->assertLessThan(5.0, Machine::lasted($started));
        $this->assertSame('applied', $this->queue()->peek('applied')?->payload, 'it was applied');

        $relay->cut();
        $relay->stop();
        $this->assertFalse($this->thrownBy(fn () => $queue->push('never sent', id: 'never'))->ambiguous);
        $this->assertNull($this->queue()->peek('never'));
    }

    public function testPushManySaysWhatWasStoredBeforeRedisWasGone(): void
    {
        $queue = $this->queue(['readTimeout' => 0.5]);
        $jobs = function () {
            for ($n = 1; $n <= 700; $n++) {
                $n === 501 && $this->redis->kill();
                yield ['payload' => $n, 'id' => "job-$n"];
            }
        };
        $gone = $this->thrownBy(static fn () => $queue->pushMany($jobs()));
        $this->assertSame([500, 'job-500'], [count($gone->stored), $gone->stored[499]]);
        $this->assertStringContainsString('500 of which are stored', $gone->getMessage());
    }

    /**
     * @dataProvider losses
     *
     * @param ?class-string $thrown
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('losses')]
    public function testARefusalAfterALostAnswerLeavesItOpenWhetherThePushWasApplied(bool $isStillThere, ?string $thrown): void
    {
        $relay = new Relay($this->redis);
        $producer = new Remote($relay->dsn(), $this->queueName);
        $producer->call('push', 'warm');
        $relay->holdReplies();
        $producer->begin('push', 'applied', 0, 'applied');
        $relay->untilHolding();
        if (!$isStillThere) {
            $this->queue()->cancel('applied');
        }
        $this->redis->ask('CONFIG', 'SET', 'min-replicas-to-write', '1');
        $relay->cut();

        $outcome = $producer->outcome();
        $this->assertSame($thrown, $outcome['thrown'] ?? null);
        if ($thrown !== null) {
            $this->assertTrue($outcome['ambiguous']);
            $this->assertStringContainsString('NOREPLICAS', $outcome['message']);
        }
        $this->assertSame($isStillThere, $this->queue()->peek('applied') !== null);
        $refused = $producer->attempt('push', 'refused');
        $this->assertSame(ServerException::class, $refused['thrown'] ?? $refused['result'], 'a refusal of the first try is one');
        $producer->kill();
        $relay->stop();
    }

    /** @return array<string, array{bool, ?class-string}> */
    public static function losses(): array
    {
        return [
            'the repetition finds the job, and needs no write' => [true, null],
            'the job is gone, and may not be written again' => [false, ConnectionException::class],
        ];
    }

    public function testAJobInHandIsAcknowledgedAcrossARestart(): void
    {
        $queue = $this->queue();
        $queue->push('work');
        $job = $queue->reserve();
        $this->redis->kill();
        $this->redis->start();
        $job->ack();

        $this->assertSame(0, $queue->count());
        $this->assertSame(1, $queue->stats()->acked);
    }

    public function testAFrozenRedisIsToldInTimeAndNoLateReplyIsTakenForAnother(): void
    {
        $queue = $this->queue(['readTimeout' => 0.5, 'connectTimeout' => 0.5]);
        $queue->push('first', id: 'first');
        $this->redis->signal(SIGSTOP);
        $started = microtime(true);
        $this->thrownBy(fn () => $queue->peek('first'));
        $this->assertLessThan(5.0, Machine::lasted($started));
        $this->redis->signal(SIGCONT);

        $this->assertSame('second', $queue->push('second', id: 'second'));
        $this->assertSame(2, $queue->count());
        $this->assertSame('second', $queue->peek('second')->id);
    }

    private function thrownBy(callable $call): ConnectionException
    {
        try {
            $call();
        } catch (ConnectionException $e) {
            return $e;
        }
        $this->fail('nothing was thrown');
    }

    private function untilItGrows(string $file, int $bytes): void
    {
        $size = static function () use ($file): int {
            clearstatcache();

            return (int) @filesize($file);
        };
        $goal = $size() + $bytes;
        Wait::until(fn () => $size() >= $goal, 30, "$bytes more bytes in " . basename($file));
    }
}
