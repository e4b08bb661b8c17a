<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\RedisServer;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\Tests\Support\Worker;

/** A Redis that goes away: the worker waits for it, and goes on where it was. */
final class WorkerOutageTest extends ProcessTestCase
{
    /** Longest pause between two tries, and what a busy machine needs on top. */
    private const BACK_WITHIN = 2.0 + 5.0;

    /** @var list<Worker> */
    private array $workers = [];

    /** @var list<RedisServer> */
    private array $servers = [];

    protected function tearDown(): void
    {
        array_map(static fn (Worker $worker) => $worker->kill(), $this->workers);
        array_map(static fn (RedisServer $server) => $server->remove(), $this->servers);
        parent::tearDown();
    }

    /** @return array<string, string> */
    protected function redisOptions(): array
    {
        return ['appendonly' => 'yes', 'appendfsync' => 'always'];
    }

    public function testItResumesByItselfAfterShortOutagesIdleAndBusy(): void
    {
        $this->resumesAfterOutagesOf(0.2, 3.0);
    }

    /** @group verify */
    #[\PHPUnit\Framework\Attributes\Group('verify')]
    public function testItResumesByItselfAfterALongOutageIdleAndBusy(): void
    {
        $this->resumesAfterOutagesOf(30.0);
    }

    /** All at once. */
    private function resumesAfterOutagesOf(float ...$all): void
    {
        $outages = [];
        foreach ($all as $seconds) {
            $server = $this->servers[] = new RedisServer($this->redisOptions());
            $queue = new DelayQueue('busy', $server->dsn(), ['readTimeout' => 10]);
            $queue->push(['do' => 'hold'], id: 'held', ttr: 90);
            $options = ['maxJobs' => 2, 'queue' => ['readTimeout' => 1]];
            $busy = $this->worker($server, 'busy', $options, 'ConnectionLost,ConnectionRestored,LeaseLost');
            $busy->hear('started held 1');
            $idle = $this->worker($server, 'idle', ['maxJobs' => 1] + $options, 'ConnectionLost,ConnectionRestored');
            Wait::until(static fn () => $server->waiters('idle') === 1, 5, 'it waits');
            $server->kill();
            $busy->say('go'); // ends while Redis is away
            $busy->hear('ended held');
            $outages[] = [microtime(true) + $seconds, $seconds, $server, $busy, $idle];
        }
        foreach ($outages as [$until, $seconds, $server, $busy, $idle]) {
            Wait::until(static fn () => microtime(true) >= $until, $seconds + 1, 'the end of the outage');
            $server->start();
            $back = microtime(true);
            foreach (['busy' => $busy, 'idle' => $idle] as $name => $worker) {
                (new DelayQueue($name, $server->dsn(), ['readTimeout' => 10]))->push([], id: 'after');
                $said[$name] = $worker->lines();
                $this->assertSame(0, $worker->exitCode());
                $this->assertContains('started after 1', $said[$name]);
                $this->assertContains('stopped MaxJobs', $said[$name]);
                $this->assertNotContains('event LeaseLost held', $said[$name]);
                $this->assertLessThan(self::BACK_WITHIN, Machine::lasted($back));
                if ($seconds > 2) {
                    // Shorter than one operation may take: nobody notices.
                    $this->assertCount(1, preg_grep('/^event ConnectionLost  DelayQueue.ConnectionException$/', $said[$name]));
                    $this->assertCount(1, preg_grep('/^event ConnectionRestored$/', $said[$name]));
                }
            }
            $stats = (new DelayQueue('busy', $server->dsn()))->stats();
            $this->assertSame([2, 0, 0], [$stats->acked, $stats->timedOut, $stats->failed], "$seconds s: each once");
        }
    }

    public function testAPausedWorkerAsksForALostRedisAsRarelyAsOneThatWorks(): void
    {
        $port = stream_socket_server('tcp://127.0.0.1:0');
        $dsn = 'redis://' . stream_socket_get_name($port, false);
        $worker = $this->workers[] = new Worker($dsn, 'orders', events: 'ConnectionLost');
        $knocks = static function (float $seconds) use ($port): int {
            for ($count = 0, $end = microtime(true) + $seconds; microtime(true) < $end;) {
                $knock = @stream_socket_accept($port, 0.01);
                $count += $knock === false ? 0 : 1;
                $knock === false || fclose($knock);
            }

            return $count;
        };
        Wait::until(static fn (): bool => $knocks(0.1) > 0, 20, 'it asks');
        $worker->signal(SIGUSR2);
        Wait::until(static fn (): bool => $knocks(0.2) === 0, 20, 'it rests for longer and longer');
        $this->assertLessThan(50, $knocks(2));
        $worker->signal(SIGCONT);
    }

    public function testAcknowledgementsThatCannotBeSentInTimeAreReportedAsLost(): void
    {
        $this->queue()->push(['do' => 'hold'], id: 'job', ttr: 2);
        $worker = $this->worker($this->redis, $this->queueName, ['maxJobs' => 2, 'queue' => ['readTimeout' => 0.5]], 'Succeeded,LeaseLost,ConnectionRestored');
        $worker->hear('started job 1');
        $this->redis->kill();
        $worker->say('go');
        $worker->hear('event Succeeded job');
        $worker->hear('event LeaseLost job');
        $this->redis->start();
        $worker->hear('event ConnectionRestored');
        $worker->hear('started job 2');
        $worker->say('go');
        $this->assertContains('stopped MaxJobs', $worker->lines());
    }

    public function testAWorkerThatStopsDuringAnOutageSaysWhatItCouldNotAcknowledge(): void
    {
        $this->queue()->push(['do' => 'hold'], id: 'job', ttr: 60);
        $worker = $this->worker($this->redis, $this->queueName, ['queue' => ['readTimeout' => 0.5]], 'LeaseLost,WorkerStopping');
        $worker->hear('started job 1');
        $this->redis->kill();
        $worker->signal(SIGTERM);
        $worker->say('go');
        $this->assertSame(['ended job', 'event LeaseLost job', 'event WorkerStopping', 'stopped Signal'], $worker->lines());
        $this->redis->start();
        $this->assertSame(1, $this->queue()->count(State::Reserved), 'it comes back when its lease ends');
    }

    /**
     * Whatever it is doing: handling, settling, idle, or trying to get back.
     *
     * @dataProvider outages
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('outages')]
    public function testAWorkerThatIsAskedToEndInAnOutageIsGoneWithinFiveSeconds(int $signal): void
    {
        $options = ['prefetch' => 3, 'idleTimeout' => 60, 'queue' => ['readTimeout' => 2]];
        $workers = $ended = [];
        foreach (['hold', 'hold and throw', 'hold and release', 'hold and bury'] as $deed) {
            foreach (['before', 'after'] as $when) {
                $name = strtr("$deed $when", ' ', '-');
                $queue = new DelayQueue($name, $this->redis->dsn());
                $queue->pushMany(array_fill(0, $when === 'before' ? 4 : 1, ['payload' => ['do' => $deed], 'ttr' => 60]));
                $workers[$name] = $this->worker($this->redis, $name, $options);
            }
        }
        foreach (['at-once', 'reconnecting'] as $name) {
            $workers[$name] = $this->worker($this->redis, $name, $options);
            Wait::until(fn () => $this->redis->waiters($name) === 1, 5, 'it waits');
        }
        $of = static fn (string $like): array => array_filter($workers, static fn (string $name) => (bool) preg_match($like, $name), ARRAY_FILTER_USE_KEY);
        foreach ($of('/hold/') as $worker) {
            $this->assertStringStartsWith('started', $worker->line());
        }
        $this->redis->signal($signal);
        foreach ($of('/before|at-once/') as $worker) {
            $worker->signal(SIGTERM);
        }
        foreach ($of('/hold/') as $name => $worker) {
            $worker->say('go');
            $this->assertStringStartsWith('ended', $worker->line());
            $ended[$name] = microtime(true);
        }
        usleep(300_000); // the others are settling now, or on their way back
        foreach ($of('/after|reconnecting/') as $name => $worker) {
            $worker->signal(SIGTERM);
            $ended[$name] = microtime(true);
        }
        $took = [];
        foreach ($workers as $name => $worker) {
            $this->assertSame(0, $worker->exitCode(20), $worker->errors());
            $took[$name] = Machine::lasted($ended[$name] ?? $ended['hold-before']);
        }
        $this->assertLessThan(5.0, max($took), json_encode($took));
    }

    /** @return array<string, array{int}> */
    public static function outages(): array
    {
        return ['Redis is gone' => [SIGKILL], 'Redis hangs' => [SIGSTOP]];
    }

    public function testAcknowledgementsThatRedisHasAndDoesNotAnswerAreReportedAsLost(): void
    {
        $queue = $this->queue();
        $queue->push([]);
        $queue->pushMany([['payload' => ['do' => 'hold'], 'id' => 'first'], ['payload' => ['do' => 'hold'], 'id' => 'second']]);
        $worker = $this->worker($this->redis, $this->queueName, ['prefetch' => 3, 'queue' => ['readTimeout' => 4]], 'LeaseLost,WorkerStopping');
        $worker->hear('started first 1');
        Wait::until(static fn () => $queue->stats()->acked === 1, 5, 'the thread has its connection');
        $this->redis->signal(SIGSTOP);
        $worker->say('go');
        $worker->hear('started second 1');
        usleep(300_000); // the first is being acknowledged
        $worker->signal(SIGTERM);
        $worker->say('go');
        $said = $worker->lines();
        $this->redis->signal(SIGCONT);
        sort($said);
        $this->assertSame(
            ['ended second', 'event LeaseLost first', 'event LeaseLost second', 'event WorkerStopping', 'stopped Signal'],
            $said,
        );
    }

    public function testARedisThatIsKilledAtFullSpeedLosesNothing(): void
    {
        $jobs = array_map(static fn (int $n) => ['payload' => [], 'id' => "job-$n", 'ttr' => 5], range(1, 3000));
        $this->queue()->pushMany($jobs);
        $worker = $this->worker($this->redis, $this->queueName, ['prefetch' => 8, 'maxJobs' => 3000], 'LeaseLost');
        foreach ([500, 1200, 1900] as $n) {
            $worker->hear("ended job-$n");
            $this->redis->kill();
            $this->redis->start();
        }
        $said = $worker->lines(60);
        $this->assertSame(0, $worker->exitCode(), $worker->errors());
        $this->assertContains('stopped MaxJobs', $said);
        $this->assertSame([], preg_grep('/LeaseLost/', $said));
        $this->assertSame([3000, 0, 0], [$this->queue()->stats()->acked, $this->queue()->stats()->timedOut, $this->queue()->count()]);
    }

    /** @dataProvider settlings */
    #[\PHPUnit\Framework\Attributes\DataProvider('settlings')]
    public function testASettlingThatRedisMissesIsRepeatedUntilItIsBack(string $deed, string $event, string $lastError): void
    {
        $this->queue()->push(['do' => "hold and $deed"], id: 'job', ttr: 60);
        $worker = $this->worker($this->redis, $this->queueName, ['maxJobs' => 1, 'queue' => ['readTimeout' => 0.3]], 'all');
        $worker->hear('started job 1');
        $this->redis->kill();
        $worker->say('go');
        $worker->hear('ended job');
        usleep(600_000);
        $this->redis->start();
        $worker->hear("event $event");
        $worker->hear('stopped MaxJobs');
        $this->assertSame($lastError, strtok($this->queue()->peek('job')->lastError, "\n"));
    }

    /** @return array<string, array{string, string, string}> */
    public static function settlings(): array
    {
        return [
            'fail' => ['throw', 'Failed job RuntimeException', 'RuntimeException: thrown'],
            'bury' => ['bury', 'Buried job DelayQueue\Bury', 'set aside'],
        ];
    }

    public function testTheTriesAreFewAndFurtherAndFurtherApart(): void
    {
        $worker = $this->worker($this->redis, $this->queueName, ['idleTimeout' => 60, 'queue' => ['readTimeout' => 0.2]], 'ConnectionLost,ConnectionRestored');
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 5, 'it waits');
        $this->redis->ask('CONFIG', 'SET', 'maxclients', '1');
        $this->redis->ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
        $this->redis->ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        $worker->hear('event ConnectionLost  DelayQueue\ConnectionException');
        $rejected = fn (): int => (int) $this->redis->info('stats')['rejected_connections'];
        $at = [];
        $started = microtime(true);
        for ($seen = $rejected(); microtime(true) < $started + 8;) {
            for ($now = $rejected(); $seen < $now; $seen++) {
                $at[] = microtime(true);
            }
            usleep(2_000);
        }
        $this->assertGreaterThanOrEqual(4, count($at), 'it keeps trying');
        // 50 ms, doubled up to 2 s, less up to half of it.
        $this->assertLessThanOrEqual(16, count($at));
        $gaps = array_map(static fn (float $a, float $b) => $b - $a, array_slice($at, 0, -1), array_slice($at, 1));
        // A try that is seen late makes the gap behind it short, and the one before it long.
        $this->assertGreaterThan(0.9, max(array_slice($gaps, -2)), 'the last pauses');
        $this->redis->ask('CONFIG', 'SET', 'maxclients', '100');
        $worker->hear('event ConnectionRestored');
    }

    public function testNoJobIsLostWhenRedisRestartsUnderLoad(): void
    {
        $queue = $this->queue(['ttr' => 2, 'maxAttempts' => 0]);
        $queue->pushMany(array_map(static fn (int $n) => ['payload' => [], 'id' => "job-$n"], range(1, 3000)));
        foreach ([1, 1, 20, 20] as $prefetch) {
            $workers[] = $this->worker($this->redis, $this->queueName, ['prefetch' => $prefetch, 'idleTimeout' => 0.2, 'queue' => ['readTimeout' => 0.3]]);
        }
        $said = array_fill(0, count($workers), '');
        // The output of a worker has to be read: a worker that got most of the jobs would fill its pipe, and stand still.
        $left = static function () use ($queue, $workers, &$said): int {
            foreach ($workers as $n => $worker) {
                while (($more = $worker->said()) !== '') {
                    $said[$n] .= $more;
                }
            }

            return $queue->count();
        };
        for ($n = 1; $n <= 4; $n++) {
            Wait::until(static fn () => $left() < 3000 - $n * 400, 30, 'some are done');
            $this->redis->kill();
            usleep(random_int(50_000, 600_000));
            $this->redis->start();
        }
        Wait::until(static fn () => $left() === 0, 40, 'all are done');
        foreach ($workers as $n => $worker) {
            $worker->signal(SIGTERM);
            $said[$n] .= $worker->rest();
            $this->assertSame(0, $worker->exitCode());
        }
        $executed = preg_grep('/^started/', explode("\n", implode("\n", $said)));
        $times = array_count_values(array_map(static fn (string $line) => explode(' ', $line)[1], $executed));
        $this->assertCount(3000, $times, 'each at least once');
        // Twice only what was in hand when Redis died: a batch of each worker, four times.
        $this->assertLessThanOrEqual(3000 + 4 * 42, count($executed));
    }

    /** @param array<string, mixed> $options */
    private function worker(RedisServer $redis, string $queue, array $options = [], string $events = ''): Worker
    {
        return $this->workers[] = new Worker($redis->dsn(), $queue, $options, $events);
    }
}
