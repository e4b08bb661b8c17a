<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work --processes: a parent that replaces its workers, stops them, and does not outlive or leave them. */
final class CliPoolTest extends CliTestCase
{
    public function testAWorkerThatIsKilledIsReplacedAndItsJobIsDone(): void
    {
        $parent = $this->pool();
        $this->queue()->push(['do' => 'wait'], id: 'a', ttr: 1);
        $holder = $this->holder('a');
        posix_kill($holder, SIGKILL);
        $this->letGo('a');
        [[, $replacement]] = $this->heard($parent, "/\\(process $holder\\) was killed by signal 9; another starts.*^\\S+ worker \\d \\(process (\\d+)\\) is ready/ms");
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
        $ends = $this->heard($parent, '/worker (\d) \S+ \d+\) ended with exit code 9; another starts in (\d+ m?s)\n(?=.*worker \1 \S+ \d+\) ended with exit code 9; another starts in (\d+ m?s)\n)/s');
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

    public function testSigHupReplacesOneAfterAnotherByNewCodeAndLosesNothing(): void
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

        // In the order of what happened: never was a worker ended before the one after it was ready.
        $events = array_map(static fn (string $line): array => json_decode($line, true), explode("\n", trim($parent->errors())));
        $order = array_column(array_filter($events, static fn (array $event): bool => in_array($event['event'], ['reload', 'started', 'ready', 'ended'], true)), 'event');
        $after = array_slice($order, array_search('reload', $order, true) + 1, 6);
        $this->assertSame(['started', 'ready', 'ended', 'started', 'ready', 'ended'], $after);
    }

    public function testAReleaseThatDoesNotStartIsNotRolledOut(): void
    {
        copy(self::HANDLER, $this->file('handler.php'));
        $parent = $this->start('work', $this->file('handler.php'), '--processes=2');
        $this->ready($parent);
        file_put_contents($this->file('handler.php'), '<?php nonsense(');
        $parent->signal(SIGHUP);
        $this->heard($parent, '/the new one, ended with exit code 2: the old ones stay/');
        $this->queue()->push([], id: 'a');
        Wait::until(fn () => $this->done() === ['a'], 20, 'the old ones work');
        $this->assertSame(3, substr_count($parent->errors(), ' started'));

        copy(self::HANDLER, $this->file('handler.php'));
        $parent->signal(SIGHUP);
        $this->heard($parent, '/(was killed|ended with exit code 0).*(was killed|ended with exit code 0)/s');
        $this->endWell($parent);
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

    /** @return list<int> the processes, once so many are ready */
    private function ready(Process $parent, int $number = 2): array
    {
        return Wait::until(static function () use ($parent, $number): ?array {
            preg_match_all('/\(process (\d+)\) is ready/', $parent->errors(), $found);

            return count($found[1]) >= $number ? array_map(intval(...), $found[1]) : null;
        }, 20, "$number workers are ready");
    }

    private function endWell(Process $parent): void
    {
        $parent->signal(SIGTERM);
        $this->assertSame(0, $parent->exitCode(), $parent->errors());
    }

    private function file(string $name): string
    {
        return "{$this->redis->folder->path}/$name";
    }
}
