<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue;
use DelayQueue\ConnectionException;
use DelayQueue\QueueFullException;
use DelayQueue\ServerException;
use DelayQueue\State;
use DelayQueue\Tests\Faults\Support\Cluster;
use DelayQueue\Tests\Faults\Support\Sentinels;
use DelayQueue\Tests\Faults\Support\Setup;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Fpm;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Remote;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\Tests\Support\Worker;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/**
 * The faults of a process or of one server's memory, on a single server, under Sentinels and in a cluster. All of them share their servers.
 *
 * @group quick
 */
final class EverywhereTest extends TestCase
{
    /** Seconds. A server that is busy answers late where it has little of a processor. */
    private const DEADLINE = 10;

    /** @var array<string, Setup> */
    private static array $setups = [];

    private Setup $setup;

    private string $queue;

    private Folder $folder;

    /** @var list<Process|Remote> */
    private array $children = [];

    public static function tearDownAfterClass(): void
    {
        foreach (self::$setups as $setup) {
            $setup->remove();
        }
        self::$setups = [];
    }

    protected function setUp(): void
    {
        $this->folder = new Folder();
    }

    protected function tearDown(): void
    {
        foreach ($this->children as $child) {
            $child->kill();
        }
        $this->folder->remove();
    }

    /** @return array<string, array{class-string<Setup>}> */
    public static function topologies(): array
    {
        return ['single' => [Single::class], 'sentinel' => [Sentinels::class], 'cluster' => [Cluster::class]];
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testAWorkerIsKilledAtEachStepOfItsJob(string $topology): void
    {
        $queue = $this->in($topology, ['ttr' => 1]);
        $queue->push('payload', id: 'job', maxAttempts: 4);
        for ($attempt = 1; $attempt <= 3; $attempt++) {
            $worker = $this->remote();
            $worker->begin('reserve', 10);
            Wait::until(static fn () => $queue->count(State::Reserved) === 1, 10, 'the job is reserved');
            $attempt === 1 || $this->assertSame($attempt, $worker->outcome()['result']['attempts']);
            $worker->kill();
        }
        $job = $queue->reserve(5);
        $this->assertSame([4, 'lease expired'], [$job?->attempts, $job?->lastError]);
        $worker = $this->remote();
        $job->release();
        $this->assertSame('job', $worker->call('reserve')['id']);
        $worker->begin('ack');
        Wait::until(static fn () => $queue->count() === 0, 5, 'the job is acknowledged');
        $worker->kill();
        $this->assertNull($queue->reserve(1.2), 'it never comes back');
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testAPoisonedJobIsBuriedAloneAndTheOthersAreDone(string $topology): void
    {
        $queue = $this->in($topology);
        $queue->push('poison', id: 'poison', ttr: 0.2, maxAttempts: 3);
        $queue->pushMany(array_map(static fn (int $n) => ['payload' => 'good', 'id' => "good-$n"], range(1, 30)));
        $log = "{$this->folder->path}/log";
        $killed = [];
        Wait::until(function () use ($queue, $log, &$killed): bool {
            $worker = Php::program('poisoned.php', $this->setup->dsn(), $this->queue, $log);
            $worker->endedBy() === SIGKILL && $killed[] = gethostname() . ":$worker->pid";

            return $queue->count(State::Buried) === 1 && $queue->count() === 1;
        }, 60, 'everything is done but the poison, which is buried');
        $executed = array_count_values(file($log, FILE_IGNORE_NEW_LINES));
        $this->assertSame([3, 31, 33], [$executed['poison'], count($executed), array_sum($executed)], 'each good job once');
        $this->assertSame('lease expired, held by ' . implode(', ', $killed), $queue->peek('poison')?->lastError);
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testForkedProcessesReadTheirOwnReplies(string $topology): void
    {
        $this->in($topology);
        $this->children[] = $process = Php::program('fork.php', $this->setup->dsn(), $this->queue, '3', '100');
        $process->hear('connected');
        $process->say('go');
        $process->hear('done', 30);
        $process->say('end');
        $this->assertSame(0, $process->exitCode(), $process->errors());
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testAPushWakesAWaitingWorkerAtOnceAlsoAfterAnotherWasKilled(string $topology): void
    {
        $queue = $this->in($topology);
        $killed = $this->remote();
        $killed->begin('reserve', 30);
        $this->untilWaiting(1);
        $killed->kill();
        $worker = $this->remote();
        foreach ([0, 0.3] as $n => $delay) {
            $worker->begin('reserve', 20);
            $this->untilWaiting(2 - $n);
            $pushed = microtime(true);
            $id = $queue->push('x', $delay);
            $this->assertSame($id, $worker->outcome()['result']['id'] ?? null);
            $this->assertLessThan($delay + 3.0, Machine::lasted($pushed));
            $worker->call('ack');
        }
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testForgottenScriptsAndClosedConnectionsAreNotNoticed(string $topology): void
    {
        $queue = $this->in($topology);
        $master = $this->setup->masterOf($this->queue);
        $pushed = $done = [];
        for ($until = microtime(true) + 1.5, $n = 0; $n < 20 || microtime(true) < $until; $n++) {
            $n % 3 === 0 ? $master->ask('SCRIPT', 'FLUSH') : $master->ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
            $pushed[] = $queue->push($n);
            $job = $queue->reserve(1);
            $n % 3 === 0 ? $master->ask('SCRIPT', 'FLUSH') : $master->ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
            $job->ack();
            $done[] = $job->id;
        }
        $this->assertSame($pushed, $done);
        $this->assertSame(0, $queue->count());
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testAFullRedisRefusesPushesAndIsDrained(string $topology): void
    {
        $queue = $this->in($topology);
        $queue->pushMany(array_map(static fn (int $n) => ['payload' => $n], range(1, 300)));
        $this->setup->configure('maxmemory', '1000000');
        try {
            $queue->push('one too many');
            $this->fail('it is full');
        } catch (QueueFullException $e) {
            $this->assertSame('OOM', $e->redisCode);
        }
        $this->assertSame(300, $queue->count());
        $this->assertSame(300, $queue->drain(static fn () => null), 'consuming works in a full Redis');
        $this->assertSame('error', array_column($queue->doctor(), 'level', 'check')['memory']);
        $this->setup->configure('maxmemory', '0');
        $this->assertSame(0, $queue->count());
        $queue->cancel($queue->push('room again'));
        $this->setup->configure('maxmemory-policy', 'allkeys-lru');
        $this->assertSame('error', array_column($queue->doctor(), 'level', 'check')['eviction']);
        $this->setup->configure('maxmemory-policy', 'noeviction');
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testAForeignKeyIsNamedAndAFlushedQueueWorksOn(string $topology): void
    {
        $queue = $this->in($topology);
        $master = $this->setup->masterOf($this->queue);
        $key = "dq:{{$this->queue}}:waiting";
        $master->ask('SET', $key, 'foreign');
        try {
            $queue->push('x');
            $this->fail('the key is of another type');
        } catch (ServerException $e) {
            $this->assertSame('WRONGTYPE', $e->redisCode);
            $this->assertStringContainsString($key, $e->getMessage());
        }
        $this->assertSame(0, $master->ask('EXISTS', "dq:{{$this->queue}}:jobs"), 'nothing was written');
        $master->ask('DEL', $key);
        $queue->pushMany([['payload' => 1], ['payload' => 2], ['payload' => 3, 'delay' => '1h']]);
        $job = $queue->reserve();
        $master->ask('FLUSHALL');
        try {
            $job->ack();
            $this->fail('the job is gone');
        } catch (DelayQueue\LeaseLostException) {
            $this->assertSame(0, $queue->count());
        }
        $this->assertSame('new', $queue->reserveJob($queue->push('new'))?->payload);
        $this->assertSame('ok', array_column($queue->doctor(), 'level', 'check')['jobs']);
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testRefusalsOfAServerAreNamedWithinTheDeadline(string $topology): void
    {
        $queue = $this->in($topology, ['readTimeout' => self::DEADLINE]);
        $queue->push('before');
        $master = $this->setup->masterOf($this->queue);
        // Nobody is to take a server that is busy for one that is down.
        $this->setup->downAfter(60_000);
        $this->setup->configure('min-replicas-to-write', '5');
        $this->assertRefused('NOREPLICAS', $queue);
        $this->setup->configure('min-replicas-to-write', '0');

        $this->setup->configure('busy-reply-threshold', '50');
        $busy = stream_socket_client("unix://{$master->folder->path}/redis.sock");
        fwrite($busy, "EVAL 'while true do end' 0\r\n");
        Wait::until(static function () use ($master): bool {
            try {
                return $master->ask('PING') !== 'PONG';
            } catch (RuntimeException $e) {
                return str_contains($e->getMessage(), 'BUSY');
            }
        }, 10, 'the server is busy');
        try {
            $this->assertRefused('BUSY', $queue);
        } finally {
            $master->ask('SCRIPT', 'KILL');
        }
        $this->assertSame('before', $queue->reserve(2)?->payload);
        $this->setup->downAfter(Setup::DOWN_AFTER_MS);
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testASignalEndsAWaitingWorkerAndOneInAHandlerFinishesItsJob(string $topology): void
    {
        $queue = $this->in($topology);
        $this->children[] = $idle = new Worker($this->setup->dsn(), $this->queue);
        $this->untilWaiting(1);
        $asked = microtime(true);
        $idle->signal(SIGTERM);
        $this->assertSame(0, $idle->exitCode());
        $this->assertLessThan(3.0, Machine::lasted($asked));

        $queue->push(['do' => 'hold'], id: 'held');
        $this->children[] = $busy = new Worker($this->setup->dsn(), $this->queue);
        $busy->hear('started held 1');
        $busy->signal(SIGTERM);
        $busy->say('go');
        $this->assertSame(0, $busy->exitCode());
        $this->assertSame(0, $queue->count());
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testAHandlerThatEndsItsProcessLeavesItsJobToAnother(string $topology): void
    {
        $queue = $this->in($topology, ['backoff' => DelayQueue\Backoff::fixed(0)]);
        foreach ([['do' => 'exit', 'status' => 3], ['do' => 'fatal'], ['do' => 'memory'], ['do' => 'throw']] as $deed) {
            $queue->push($deed, id: $deed['do']);
            $this->children[] = $worker = new Worker($this->setup->dsn(), $this->queue, ['stopWhenEmpty' => true, 'maxJobs' => 1]);
            $this->assertSame(['exit' => 3, 'fatal' => 255, 'memory' => 255, 'throw' => 0][$deed['do']], $worker->exitCode(), $worker->errors());
            $job = $queue->reserve(2);
            $this->assertSame([$deed['do'], 2], [$job?->id, $job?->attempts]);
            $job->ack();
        }
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testALeaseThatEndsGoesToOneOtherWorkerOnly(string $topology): void
    {
        $queue = $this->in($topology);
        $queue->push('slow', id: 'slow', ttr: 0.3);
        $first = $queue->reserve();
        $second = $this->remote();
        $this->assertSame(2, $second->call('reserve', 5)['attempts']);
        try {
            $first->ack();
            $this->fail('another worker holds it');
        } catch (DelayQueue\LeaseLostException) {
            $second->call('ack');
        }
        $this->assertSame(0, $queue->count());
    }

    /** @dataProvider topologies */
    #[\PHPUnit\Framework\Attributes\DataProvider('topologies')]
    public function testPagesOfPhpFpmPushAndOneThatIsKilledLeavesAllOrNothing(string $topology): void
    {
        $this->in($topology);
        $page = new DelayQueue('page', $this->setup->dsn());
        $page->purge();
        $fpm = new Fpm($this->folder);
        $pushed = [];
        for ($n = 0; $n < 10; $n++) {
            $answer = json_decode($fpm->get('page.php', ['do' => 'push', 'id' => "page-$n", 'dsn' => $this->setup->dsn()])->body, true);
            $pushed[] = $answer['result'];
            $request = $fpm->begin('page.php', ['do' => 'push', 'id' => "killed-$n", 'dsn' => $this->setup->dsn()]);
            usleep(random_int(0, 5_000));
            posix_kill($answer['pid'], SIGKILL);
            $request->response()->finished && $pushed[] = "killed-$n";
        }
        $fpm->stop();
        $stored = [];
        while ($job = $page->reserve()) {
            $this->assertSame(['of' => $job->id], $job->payload);
            $stored[] = $job->id;
            $job->ack();
        }
        $this->assertSame([], array_diff($pushed, $stored));
        $this->assertSame($stored, array_unique($stored));
    }

    private function assertRefused(string $code, DelayQueue $queue): void
    {
        $started = microtime(true);
        try {
            $queue->push('refused');
            $this->fail("$code was expected");
        } catch (ServerException $e) {
            $this->assertSame($code, $e->redisCode);
        } catch (ConnectionException $e) {
            // Under Sentinels another connection may be asked for, which a busy server does not give.
            $this->assertStringContainsString($code, $e->getMessage());
        }
        $this->assertLessThan(self::DEADLINE + 2.0, Machine::lasted($started));
    }

    /** @param array<string, mixed> $options of DelayQueue */
    private function in(string $topology, array $options = []): DelayQueue
    {
        $this->setup = self::$setups[$topology] ??= $topology === Single::class ? new Single([]) : new $topology();
        $this->setup->untilWhole();
        $this->queue = strtolower($this->getName(false));

        return new DelayQueue($this->queue, $this->setup->dsn(), $options + ['readTimeout' => 60]);
    }

    private function remote(): Remote
    {
        return $this->children[] = new Remote($this->setup->dsn(), $this->queue, ['readTimeout' => 10]);
    }

    private function untilWaiting(int $many): void
    {
        $master = $this->setup->masterOf($this->queue);
        Wait::until(fn () => $master->ask('ZCARD', "dq:{{$this->queue}}:waiters") >= $many, 5, "$many wait");
    }
}
