<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work --processes: a parent that replaces its workers, stops them, and does not outlive or leave them. */
final class CliPoolTest extends CliTestCase
{
    use EndsPools;

    public function testAWorkerThatIsKilledIsReplacedAndItsJobIsDone(): void
    {
        $parent = $this->pool();
        $this->queue()->push(['do' => 'wait'], id: 'a', ttr: 1);
        $holder = $this->holder('a');
        $leaseUntil = $this->queue()->peek('a')->leaseUntil;
        Wait::until(fn (): bool => $this->queue()->peek('a')->leaseUntil > $leaseUntil, 20, 'the lease is renewed before');
        posix_kill($holder, SIGKILL);
        $this->letGo('a');
        [[, $replacement]] = $this->heard($parent, "/\\(process $holder\\) was killed by signal 9 while it ran job a of $this->queueName, attempt 1 of 10; another starts.*^\\S+ worker \\d \\(process (\\d+)\\) is ready/ms");
        $this->assertNotSame($holder, (int) $replacement);
        Wait::until(fn () => $this->done() === ['a'], 20, 'another does its job');
        $this->assertSame([], $this->redis->clients($parent->pid), 'the parent has no connection');
        $this->endWell($parent);
    }

    public function testACrashLoopIsSlowedDown(): void
    {
        file_put_contents($this->file('crash.php'), '<?php return fn () => exit(9);');
        for ($n = 0; $n < 4; $n++) {
            $this->queue()->push([], ttr: 0.1, maxAttempts: 1);
        }
        $parent = $this->start('work', $this->file('crash.php'), '--processes=2');
        $ends = $this->heard($parent, '/worker (\d) \S+ \d+\) ended with exit code 9 while it ran job \S+ of \S+, attempt 1 of 1; another starts in (\d+ m?s)\n(?=.*?worker \1 \S+ \d+\) ended with exit code 9 .*; another starts in (\d+ m?s)\n)/s');
        $this->assertSame(['250 ms', '500 ms'], array_slice($ends[0], 2));
        $parent->signal(SIGTERM);
        $this->assertSame(0, $parent->exitCode(), 'also while nobody works');
    }

    public function testWrongUsageIsNotTriedAgain(): void
    {
        foreach (['nosuch.php', self::HANDLER . ' --max-time=soon'] as $line) {
            $result = $this->cli('work', '--processes=2', ...explode(' ', $line));
            $this->assertSame(2, $result->exitCode, $result->errors);
            $this->assertLessThanOrEqual(2, substr_count($result->errors, ' started'));
        }
    }

    public function testASignalIsHeardWhileTheWorkersAreStarted(): void
    {
        // Each loads for longer than the test lasts.
        file_put_contents($this->file('boot.php'), "<?php file_put_contents(__DIR__ . '/boots', '.', FILE_APPEND | LOCK_EX) && filesize(__DIR__ . '/boots') > 1 && sleep(60);");
        $parent = $this->start('work', self::HANDLER, "--bootstrap={$this->file('boot.php')}", '--processes=1000');
        $this->heard($parent, '/(worker \d+ \(process \d+\) started\n.*){3}/s');
        $parent->signal(SIGTERM);
        $this->assertSame(0, $parent->exitCode(20));
        $started = substr_count($parent->errors(), ' started');
        $this->assertLessThan(500, $started, 'it did not go on starting');
        $this->assertSame($started, preg_match_all('/ended with exit code 0$|was stopped before it was ready$/m', $parent->errors()), $parent->errors());
        $this->assertStringNotContainsString('killed', $parent->errors());
    }

    public function testTheFirstLineNamesTheRedisToWhichTheBootstrapFileLeadsTheWorkers(): void
    {
        file_put_contents($this->file('boot.php'), "<?php putenv('DELAYQUEUE_DSN={$this->redis->dsn()}'); putenv('DELAYQUEUE_PREFIX=shop');");
        $parent = $this->startWith(['DELAYQUEUE_DSN' => 'redis://127.0.0.1:1/7'], 'work', self::HANDLER, "--bootstrap={$this->file('boot.php')}", '--processes=2');
        $this->ready($parent);
        $this->assertStringEndsWith(" 2 workers for queue $this->queueName at {$this->redis->dsn()}, prefix shop", (string) strtok($parent->errors(), "\n"));
        $this->endWell($parent);
    }

    public function testAPoolThatStartsBeforeRedisWaitsForIt(): void
    {
        $this->redis->kill();
        $parent = $this->start('work', self::HANDLER, '--processes=2');
        $this->heard($parent, '/(Redis is away: .*){2}/s');
        $this->assertStringNotContainsString('is ready', $parent->errors());
        $this->redis->start();
        $this->ready($parent);
        $this->assertStringNotContainsString('ended', $parent->errors());
        $this->endWell($parent);
    }

    public function testAParentRestsAfterItsWorkersHadToWaitForRedis(): void
    {
        $parent = $this->start('work', self::HANDLER, '--processes=2');
        $this->ready($parent);
        $this->redis->kill();
        $this->heard($parent, '/(Redis is away: .*){2}/s');
        $this->redis->start();
        $this->heard($parent, '/(Redis is back.*){2}/s');
        // Fields 14 and 15: the processor time of the process, in hundredths of a second.
        $busy = static fn (): int => array_sum(array_slice(explode(' ', (string) file_get_contents("/proc/{$parent->pid}/stat")), 13, 2));
        $before = $busy();
        usleep(2_000_000);
        $this->assertLessThan(50, $busy() - $before);
        $this->endWell($parent);
    }

    public function testSigHupReplacesAllByNewCodeAndLosesNothing(): void
    {
        $log = $this->file('done.log');
        $handler = $this->file('handler.php');
        $write = static fn (int $version) => file_put_contents(
            $handler,
            "<?php return function (\$job) { usleep(5000); file_put_contents('$log', \"v$version \$job->id \" . getmypid() . \"\\n\", FILE_APPEND | LOCK_EX); };",
        );
        $write(1);
        $parent = $this->start('work', $handler, '--processes=2', '--log=json');
        $this->ready($parent);
        $jobs = 0;
        $push = function () use (&$jobs): void {
            $this->queue()->pushMany(array_map(static fn (int $n): array => ['payload' => 1, 'id' => "job-$n"], range($jobs, $jobs + 3)));
            $jobs += 4;
        };
        $lines = static fn (): array => is_file($log) ? file($log, FILE_IGNORE_NEW_LINES) : [];
        $push();
        Wait::until(static fn () => $lines() !== [], 20, 'the old code works');
        $write(2);
        $parent->signal(SIGHUP);
        Wait::until(static function () use ($parent, $push): bool {
            $push();
            usleep(40_000); // neither idle nor swamped

            return preg_match_all('/"event":"ended"/', $parent->errors()) >= 2;
        }, 20, 'both are replaced');
        $push();
        Wait::until(fn () => count($this->queue()) === 0, 30, 'everything is done');
        $this->endWell($parent);

        $ids = array_map(static fn (string $line): string => explode(' ', $line)[1], $lines());
        $this->assertCount($jobs, $ids, 'none twice');
        $this->assertCount($jobs, array_unique($ids), 'none lost');
        $versions = array_count_values(array_map(static fn (string $line): string => substr($line, 0, 2), $lines()));
        $this->assertGreaterThan(0, $versions['v2']);
        $this->assertSame('v2', substr($lines()[$jobs - 1], 0, 2));

        // No worker was told to end before all of the new ones were ready.
        $events = array_map(static fn (string $line): array => json_decode($line, true), explode("\n", trim($parent->errors())));
        $order = array_values(array_diff(array_column($events, 'event'), ['stopped'])); // what each worker says itself
        $after = array_slice($order, array_search('reload', $order, true) + 1, 7);
        $this->assertSame(['started', 'ready', 'started', 'ready', 'reloaded', 'ended', 'ended'], $after);
    }

    /** @dataProvider signals */
    #[\PHPUnit\Framework\Attributes\DataProvider('signals')]
    public function testASignalStopsAllAndTheirJobsAreFinished(int $signal): void
    {
        $parent = $this->pool();
        foreach (['a', 'b'] as $id) {
            $this->queue()->push(['do' => 'wait'], id: $id);
        }
        $holders = [$this->holder('a'), $this->holder('b')];
        $this->assertNotSame($holders[0], $holders[1]);
        $parent->signal($signal);
        $parent->signal($signal);
        $this->heard($parent, '/stopping: /');
        $this->queue()->push([], id: 'c');
        $this->letGo('a');
        $this->letGo('b');
        $this->assertSame(0, $parent->exitCode());
        $done = $this->done();
        sort($done);
        $this->assertSame(['a', 'b'], $done);
        $this->assertSame(State::Ready, $this->queue()->peek('c')->state);
        $this->assertStringNotContainsString('was killed', $parent->errors());
    }

    /** @return array<string, array{int}> */
    public static function signals(): array
    {
        return ['TERM' => [SIGTERM], 'INT' => [SIGINT], 'QUIT' => [SIGQUIT]];
    }

    public function testASignalStopsAllAtOnceWhenTheyHaveNothingToDo(): void
    {
        $parent = $this->pool('--idle-timeout=60');
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 2, 20, 'they wait');
        $this->endWell($parent);
    }

    public function testSigUsr2HoldsAllUntilSigCont(): void
    {
        $parent = $this->pool();
        $parent->signal(SIGUSR2);
        // A worker that comes later is held as well.
        $victim = (int) $this->heard($parent, '/\(process (\d+)\) is ready/')[0][1];
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 0, 20, 'nobody waits for jobs');
        posix_kill($victim, SIGKILL);
        $this->heard($parent, '/(is ready.*){3}/s');
        $this->queue()->push([], id: 'a');
        $this->queue()->push([], id: 'b', delay: 0.3);
        Wait::until(fn () => $this->queue()->peek('b')->state === State::Ready, 20, 'time goes by');
        $this->assertSame([], $this->handled());
        $this->assertSame(2, count($this->queue()));
        $parent->signal(SIGCONT);
        Wait::until(fn () => count($this->done()) === 2, 20, 'they go on');
        $this->endWell($parent);
    }

    /** @dataProvider leashes */
    #[\PHPUnit\Framework\Attributes\DataProvider('leashes')]
    public function testWorkersWhoseParentIsKilledFinishTheirJobsAndEnd(bool $withSetpriv): void
    {
        // Without setpriv in the PATH, the workers have only their socket to notice it by.
        $environment = $withSetpriv ? [] : ['PATH' => $this->redis->folder->path];
        $parent = $this->startWith($environment, 'work', self::HANDLER, '--processes=3', '--idle-timeout=0.2');
        $workers = $this->ready($parent, 3);
        $this->queue()->push(['do' => 'wait'], id: 'a');
        $busy = $this->holder('a');
        $parent->kill();
        $isAlive = static fn (int $pid): bool => str_contains((string) @file_get_contents("/proc/$pid/cmdline"), 'delayqueue');
        Wait::until(static fn () => array_filter($workers, $isAlive) === [array_search($busy, $workers, true) => $busy], 20, 'the idle ones end');
        $this->assertSame(State::Reserved, $this->queue()->peek('a')->state);
        $this->queue()->push([], id: 'b');
        $this->letGo('a');
        Wait::until(static fn () => !$isAlive($busy), 20, 'the busy one ends');
        $this->assertSame(['a'], $this->done());
        $this->assertSame([null, State::Ready], [$this->queue()->peek('a'), $this->queue()->peek('b')?->state]);
    }

    /** @return array<string, array{bool}> */
    public static function leashes(): array
    {
        return ['told by the kernel' => [true], 'by their socket' => [false]];
    }

    public function testALimitEndsAWorkerAndAnotherTakesItsPlace(): void
    {
        $parent = $this->pool('--max-jobs=2');
        for ($n = 0; $n < 10; $n++) {
            $this->queue()->push([]);
        }
        Wait::until(fn () => count($this->done()) === 10, 20, 'all are done');
        $this->assertGreaterThanOrEqual(5, count(array_unique(array_column($this->handled(), 2))));
        $this->endWell($parent);
    }

    public function testWithStopWhenEmptyItEndsWhenNothingIsDue(): void
    {
        for ($n = 0; $n < 6; $n++) {
            $this->queue()->push([]);
        }
        $result = $this->cli('work', self::HANDLER, '--processes=2', '--stop-when-empty', '--max-jobs=2');
        $this->assertSame(0, $result->exitCode, $result->errors);
        $this->assertCount(6, $this->done());
        $this->assertSame(6, substr_count($result->output, ': done'));
    }

    private function pool(string ...$options): Process
    {
        $parent = $this->start('work', self::HANDLER, '--processes=2', ...$options);
        $this->ready($parent);

        return $parent;
    }
}
