<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue\Database\Schema;
use DelayQueue\NewJob;
use DelayQueue\Tests\Database\Support\DatabaseCliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work --relay: one relay beside the workers, which the pool replaces, reloads and stops last. */
final class RelayInPoolTest extends DatabaseCliTestCase
{
    use EndsPools;

    protected function setUp(): void
    {
        parent::setUp();
        $this->useDatabase('sqlite');
    }

    /** @dataProvider numbers */
    #[\PHPUnit\Framework\Attributes\DataProvider('numbers')]
    public function testThereIsOneRelayHoweverManyWorkers(int $workers): void
    {
        $parent = $this->pool("--processes=$workers", '--log=json');
        $this->ready($parent, $workers + 1);
        $this->assertCount($workers + 1, $this->childrenOf($parent));
        $ready = array_filter($this->events($parent), static fn (array $event): bool => $event['event'] === 'ready');
        $this->assertSame(['relay'], array_values(array_filter(array_column($ready, 'role'))));
        $numbers = array_column($ready, 'worker');
        sort($numbers);
        $this->assertSame(range(1, $workers), $numbers);
        $this->pushAged([], id: 'a');
        Wait::until(fn (): bool => $this->done() === ['a'], 30, 'a worker does what the relay has brought');
        $this->endWell($parent);
        $this->assertSame([], array_filter($this->events($parent), static fn (array $event): bool => $event['event'] === 'relayFailed'));
    }

    /** @return array<string, array{int}> */
    public static function numbers(): array
    {
        return ['one worker' => [1], 'three' => [3]];
    }

    public function testARelayThatIsKilledIsReplaced(): void
    {
        $parent = $this->pool('--processes=2');
        $relay = $this->relay($parent);
        posix_kill($relay, SIGKILL);
        [[, $other]] = $this->heard($parent, "/relay \\(process $relay\\) was killed by signal 9; another starts in 250 ms.*^\\S+ relay \\(process (\\d+)\\) is ready/ms");
        $this->assertNotSame($relay, (int) $other);
        $this->pushAged([], id: 'a');
        Wait::until(fn (): bool => $this->done() === ['a'], 30, 'the other one works');
        $this->endWell($parent);
    }

    public function testAReloadBringsANewRelayOnceTheNewWorkersAreReady(): void
    {
        $parent = $this->pool('--processes=2');
        $old = $this->relay($parent);
        $parent->signal(SIGHUP);
        $this->heard($parent, "/relay \\(process $old\\) ended with exit code 0$/m");
        $said = $parent->errors();
        $this->assertGreaterThan(strpos($said, 'all of the new workers are ready'), strpos($said, 'a new relay starts'));
        $this->assertSame(1, preg_match('/a new relay starts.* relay \(process (\d+)\) started.* relay \(process \1\) is ready.*the new relay is ready: the old one ends.* relay \(process ' . $old . '\) ended/s', $said), $said);
        $this->assertCount(3, $this->childrenOf($parent));
        $this->endWell($parent);
    }

    public function testAReleaseThatDoesNotStartLeavesTheOldRelay(): void
    {
        $boot = $this->file('boot.php', '<?php');
        $parent = $this->pool('--processes=2', "--bootstrap=$boot");
        $old = $this->relay($parent);
        file_put_contents($boot, '<?php nonsense(');
        $parent->signal(SIGHUP);
        $this->heard($parent, '/the new one, ended with exit code 2: the old ones stay/');
        $this->assertStringNotContainsString('a new relay', $parent->errors());

        // Workers start, and the relay does not.
        file_put_contents($boot, '<?php putenv("DELAYQUEUE_DATABASE=sqlite:/nosuch/shop.db");');
        $parent->signal(SIGHUP);
        $this->heard($parent, '/delayqueue: cannot open the database/');
        $this->heard($parent, '/relay \(process \d+\), the new one, ended with exit code 5: the old one stays/');
        $this->assertTrue(posix_kill($old, 0));
        $this->pushAged([], id: 'a');
        Wait::until(fn (): bool => $this->done() === ['a'], 30, 'the old one works');
        $this->endWell($parent);
    }

    /** @dataProvider signals */
    #[\PHPUnit\Framework\Attributes\DataProvider('signals')]
    public function testItStopsAfterTheWorkersAndBringsWhatTheirLastJobHasLeft(int $signal): void
    {
        $parent = $this->pool('--processes=2');
        $relay = $this->relay($parent);
        $this->ready($parent, 3);
        $this->queue()->push(['do' => 'wait'], id: 'last');
        $holder = $this->holder('last');
        // Ctrl-C reaches all processes of a terminal.
        array_map(static fn (int $pid): bool => $signal === SIGINT && posix_kill($pid, $signal), $this->childrenOf($parent));
        $parent->signal($signal);
        $this->heard($parent, '/stopping: /');
        $left = [$holder, $relay];
        sort($left);
        Wait::until(fn (): bool => $this->childrenOf($parent) === $left, 20, 'the idle worker ends');
        $this->outbox()->pushMany($this->queueName, array_map(static fn (int $n): array => ['payload' => $n, 'delay' => 60], range(1, 1200)));
        $this->assertStringNotContainsString("relay (process $relay) ended", $parent->errors());
        $this->letGo('last');
        $this->assertSame(0, $parent->exitCode(20), $parent->errors());
        $this->assertStringEndsWith("relay (process $relay) ended with exit code 0\n", $parent->errors());
        $this->assertSame([0, 1200], [$this->rows(), count($this->queue())]);
    }

    /** @return array<string, array{int}> */
    public static function signals(): array
    {
        return ['TERM' => [SIGTERM], 'INT' => [SIGINT]];
    }

    public function testAPoolThatStopsWhenEmptyIsNotKeptByItsRelay(): void
    {
        $this->queue()->push([], id: 'a');
        $result = $this->cli('work', self::HANDLER, '--relay', '--stop-when-empty');
        $this->assertSame(0, $result->exitCode, $result->errors);
        $this->assertStringContainsString(' 1 worker for queue ', $result->errors);
        $this->assertSame(['a'], $this->done());
        $this->assertSame(0, $this->rows());
    }

    public function testARelayThatIsNotReadyWhenTheWorkersEndStillBringsWhatTheirJobsHaveLeft(): void
    {
        $this->outbox()->pushMany($this->queueName, array_map(static fn (int $n): array => ['payload' => $n, 'delay' => 60], range(1, 5)));
        // The relay loads it after the worker has, which ends at once.
        $boot = $this->file('slow.php', '<?php usleep(500_000);');
        $result = $this->cli('work', self::HANDLER, '--relay', '--stop-when-empty', "--bootstrap=$boot");
        $this->assertSame([0, 0, 5], [$result->exitCode, $this->rows(), count($this->queue())], $result->errors);
        $this->assertMatchesRegularExpression('/worker 1 \(process \d+\) ended.*relay \(process (\d+)\) is ready\n.*relay \(process \1\) ended with exit code 0\n$/sD', $result->errors);
    }

    public function testWrongUsageAtTheStartEndsThePool(): void
    {
        $this->server = null;
        foreach (['which database?' => [], '--database must be a PDO DSN' => ['--database=nonsense']] as $why => $options) {
            $result = $this->cli('work', self::HANDLER, '--relay', '--processes=2', ...$options);
            $this->assertSame(2, $result->exitCode, $result->errors);
            $this->assertSame(1, substr_count($result->errors, "delayqueue: $why"), $result->errors);
        }
    }

    public function testWorkersGoOnWhereTheRelayDoesNotStart(): void
    {
        $this->pdo()->exec('drop table delayqueue_source');
        $parent = $this->pool('--processes=2');
        $this->heard($parent, '/delayqueue: a table of the database side is missing/');
        $pauses = $this->heard($parent, '/relay \S+ \d+\) ended with exit code 5; another starts in (250 ms).*relay \S+ \d+\) ended with exit code 5; another starts in (500 ms)/s');
        $this->assertNotSame([], $pauses);
        $this->queue()->push([], id: 'a');
        Wait::until(fn (): bool => $this->done() === ['a'], 20, 'the workers work');
        Schema::install($this->pdo());
        $this->relay($parent);
        $this->endWell($parent);
    }

    public function testItStopsWhileRedisIsAway(): void
    {
        $parent = $this->pool('--processes=2');
        $this->relay($parent);
        $this->ready($parent, 3);
        $this->pushAged(1);
        $this->redis->kill();
        $this->heard($parent, '/the rows of queue \S+ are tried again/');
        $this->endWell($parent);
        $this->assertSame(1, $this->rows());
        $this->assertStringNotContainsString('was killed', $parent->errors());
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testItOutlivesADatabaseThatIsAwayAndStopsWithoutIt(string $name): void
    {
        $this->useDatabase($name);
        $parent = $this->pool('--processes=2');
        $relay = $this->relay($parent);
        $this->ready($parent, 3);
        $this->server->kill();
        try {
            $this->heard($parent, '/the database has failed, /');
            $this->queue()->push([], id: 'a');
            Wait::until(fn (): bool => $this->done() === ['a'], 20, 'workers need no database');
            $this->server->restart();
            $this->pushAged([], id: 'b');
            Wait::until(fn (): bool => $this->done() === ['a', 'b'], 30, 'it is back');
            $this->assertStringNotContainsString("relay (process $relay) ended", $parent->errors());
            $this->server->kill();
            $this->endWell($parent);
            $this->assertStringNotContainsString('was killed', $parent->errors());
        } finally {
            $this->server->restart();
        }
    }

    public function testADatabaseThatDoesNotAnswerDoesNotKeepThePool(): void
    {
        $this->useDatabase('postgresql');
        $parent = $this->pool('--processes=2');
        $relay = $this->relay($parent);
        $this->ready($parent, 3);
        $this->server->signal(SIGSTOP);
        try {
            $parent->signal(SIGTERM);
            $this->assertSame(0, $parent->exitCode(40), $parent->errors());
            $this->assertStringEndsWith("relay (process $relay) was killed by signal 9\n", $parent->errors());
        } finally {
            $this->server->signal(SIGCONT);
        }
    }

    /** @dataProvider leashes */
    #[\PHPUnit\Framework\Attributes\DataProvider('leashes')]
    public function testARelayWhoseParentIsKilledEnds(bool $withSetpriv): void
    {
        $environment = $withSetpriv ? [] : ['PATH' => $this->redis->folder->path];
        $parent = $this->startWith($environment, 'work', self::HANDLER, '--relay', '--idle-timeout=0.2');
        $relay = $this->relay($parent);
        $isAlive = static fn (): bool => str_contains((string) @file_get_contents("/proc/$relay/cmdline"), 'delayqueue');
        $this->assertTrue($isAlive());
        $parent->kill();
        Wait::until(static fn (): bool => !$isAlive(), 20, 'the relay ends');
    }

    /** @return array<string, array{bool}> */
    public static function leashes(): array
    {
        return ['told by the kernel' => [true], 'by its socket' => [false]];
    }

    private function pool(string ...$options): Process
    {
        return $this->start('work', self::HANDLER, '--relay', ...$options);
    }

    /** A row that is not left to its own request any more. */
    private function pushAged(mixed $payload, ?string $id = null): void
    {
        $this->outbox()->push($this->queueName, new NewJob($payload, id: $id));
        $this->pdo()->exec('update delayqueue_outbox set placed = placed - 10000000');
    }

    /** The relay's process, once it is ready. */
    private function relay(Process $parent): int
    {
        return (int) $this->heard($parent, '/relay \(process (\d+)\) is ready/')[0][1];
    }

    /** @return list<int> */
    private function childrenOf(Process $parent): array
    {
        $children = (string) file_get_contents("/proc/$parent->pid/task/$parent->pid/children");

        $children = array_map(intval(...), preg_split('/ /', $children, -1, PREG_SPLIT_NO_EMPTY));
        sort($children);

        return $children;
    }

    /** @return list<array<string, mixed>> */
    private function events(Process $parent): array
    {
        return array_map(static fn (string $line): array => (array) json_decode($line, true), explode("\n", trim($parent->errors())));
    }
}
