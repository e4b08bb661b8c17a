<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work in one process, and delayqueue drain: the log, the limits, the signals, the end. */
final class CliWorkTest extends CliTestCase
{
    private const EMPTY = ['work', self::HANDLER, '--stop-when-empty'];

    public function testEachRunOfTheHandlerIsALineWithItsOutcome(): void
    {
        $deeds = ['nothing' => 'done', 'fail' => 'failed', 'bury' => 'buried', 'release' => 'released', 'ack' => 'settled'];
        foreach (array_keys($deeds) as $deed) {
            $this->queue()->push(['do' => $deed], id: $deed);
        }
        $this->queue()->push(['do' => 'fail'], id: 'last', maxAttempts: 1);
        $this->queue()->push(['do' => 'sleep'], id: 'slow', timeout: 0.2);
        $result = $this->cli(...self::EMPTY, ...['--log=json']);
        $this->assertSame(0, $result->exitCode, $result->errors);

        $lines = array_map(static fn (string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR), explode("\n", trim($result->output)));
        $this->assertSame($deeds + ['last' => 'buried', 'slow' => 'timedOut'], array_column($lines, 'outcome', 'id'));
        $reasons = array_column($lines, 'reason', 'id');
        $this->assertSame(
            ['RuntimeException: not now', 'DelayQueue\Bury: never', 'DelayQueue\Release: later', 'RuntimeException: not now'],
            [$reasons['fail'], $reasons['bury'], $reasons['release'], $reasons['last']],
        );
        $this->assertStringStartsWith('DelayQueue\TimeoutException: ', $reasons['slow']);
        $this->assertArrayNotHasKey('reason', $lines[0]);
        $at = realpath(self::HANDLER);
        $failed = array_column($lines, null, 'id')['fail'];
        $this->assertMatchesRegularExpression('~^' . preg_quote((string) $at, '~') . ':\d+$~D', $failed['at']);
        $this->assertMatchesRegularExpression('~^LogicException: the cause in \S+:\d+$~D', implode($failed['previous']));
        $this->assertStringContainsString('{closure', $failed['trace'][0]);
        $this->assertStringNotContainsString('secret', $result->output, 'no arguments');
        $this->assertArrayNotHasKey('trace', array_column($lines, null, 'id')['bury'], 'a wish of the handler is no error');
        foreach ($lines as $line) {
            $this->assertSame([$this->queueName, 1], [$line['queue'], $line['attempt']]);
            $this->assertMatchesRegularExpression('/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/', $line['time']);
            $this->assertGreaterThanOrEqual(0, $line['late_ms']);
            $this->assertGreaterThanOrEqual($line['id'] === 'slow' ? 200 : 0, $line['run_ms']);
            $this->assertLessThan(20_000, $line['run_ms']);
        }
        $notices = array_map(static fn (string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR), explode("\n", trim($result->errors)));
        $this->assertSame(['ready', 'stopped'], array_column($notices, 'event'));
        $this->assertSame([[$this->queueName], $this->redis->dsn(), 'dq'], [$notices[0]['queues'], $notices[0]['redis'], $notices[0]['prefix']]);
        $this->assertSame('empty', $notices[1]['reason']);
    }

    public function testTheLineForPeopleSaysTheSame(): void
    {
        $this->queue()->push(['do' => 'fail'], id: 'a');
        $result = $this->cli(...self::EMPTY);
        $this->assertMatchesRegularExpression("/^\\S+Z $this->queueName a attempt 1, \\d+ ms late, ran [\\d.]+ ms: failed \\(RuntimeException: not now; in \\S+:\\d+; caused by LogicException: the cause in \\S+; #0 .+\\)\n\$/D", $result->output);
        $ready = preg_quote("is ready for queue $this->queueName at {$this->redis->dsn()}, prefix dq", '~');
        $this->assertMatchesRegularExpression("~^\\S+Z worker \\(process \\d+\\) $ready\n\\S+Z worker \\(process \\d+\\) stopped: empty\n$~D", $result->errors);
    }

    public function testAWorkerAndAPoolSayAtTheirStartWhereTheyWorkWithoutAPassword(): void
    {
        $this->redis->ask('ACL', 'SETUSER', 'ann', 'on', '>secret', '~*', '&*', '+@all');
        $place = ['--queue=orders', '--queue=refunds', "--dsn=redis+unix://ann:secret@{$this->redis->socket}?db=0", '--prefix=shop'];
        $here = "for queues orders, refunds at redis+unix://ann:***@{$this->redis->socket}?db=0, prefix shop";
        $errors = $this->cli('work', self::HANDLER, '--max-time=0.3', ...$place)->errors;
        $this->assertStringEndsWith("is ready $here", strtok($errors, "\n"));
        $pool = $this->start('work', self::HANDLER, '--processes=2', ...$place);
        $this->heard($pool, '~\A\S+ 2 workers ' . preg_quote($here, '~') . '$~m');
        $this->heard($pool, '/(is ready.*){2}/s');
        $pool->signal(SIGTERM);
        $this->assertSame(0, $pool->exitCode(20));
        $this->assertStringNotContainsString('secret', $errors . $pool->errors());
    }

    /** @dataProvider deaths */
    #[\PHPUnit\Framework\Attributes\DataProvider('deaths')]
    public function testAHandlerThatEndsTheProcessLeavesALine(string $deed, int $exitCode, string $reason): void
    {
        $this->queue()->push(['do' => $deed], id: 'a');
        $result = $this->cli(...self::EMPTY, ...['--log=json']);
        $this->assertSame($exitCode, $result->exitCode, $result->errors);
        $line = json_decode($result->output, true);
        $this->assertSame(['a', 'died'], [$line['id'] ?? null, $line['outcome'] ?? $result->output]);
        $this->assertStringContainsString($reason, $line['reason']);
        $this->assertNotNull($this->queue()->peek('a')->lastError);
    }

    /** @return array<string, array{string, int, string}> */
    public static function deaths(): array
    {
        return ['exit' => ['exit', 7, 'ended the process'], 'exit(0)' => ['succeed', 1, 'ended the process'], 'a fatal error' => ['fatal', 255, 'Two']];
    }

    public function testALeaseThatWasLostIsTheOutcome(): void
    {
        $this->queue()->push(['do' => 'wait'], id: 'a', ttr: 1);
        $worker = $this->start('work', self::HANDLER, '--log=json', '--max-jobs=1');
        $this->holder('a');
        $this->queue()->cancel('a');
        $this->letGo('a');
        $lines = array_map(static fn (string $line): string => json_decode($line, true)['outcome'], explode("\n", trim($this->finish($worker)->output)));
        $this->assertContains('lost', $lines);
    }

    public function testTheLogCanHaveAFileOfItsOwn(): void
    {
        $log = "{$this->redis->folder->path}/jobs.log";
        foreach (['a', 'b'] as $id) {
            $this->queue()->push([], id: $id);
            $this->assertSame('', $this->cliExpecting(0, 'drain', self::HANDLER, '--log=json', "--log-file=$log"));
        }
        $ids = array_map(static fn (string $line): string => json_decode($line, true)['id'], file($log));
        $this->assertSame(['a', 'b'], $ids);
    }

    public function testAQueueThatNothingWasEverPushedToMayBeMistyped(): void
    {
        $this->queue()->push([], delay: 60);
        foreach ([['drain', self::HANDLER], ['dump'], ['stats']] as $command) {
            $errors = $this->cliExpecting(2, ...[...$command, '--queue=ordres']);
            $this->assertSame("delayqueue: there is no queue ordres; there are $this->queueName\n", $errors);
        }
        $this->cliExpecting(0, 'drain', self::HANDLER, '--queue=ordres', '--create');
    }

    public function testDrainRunsWhatIsDueAndEnds(): void
    {
        foreach (['a', 'b', 'c'] as $id) {
            $this->queue()->push([], id: $id);
        }
        $this->queue()->push([], delay: 60, id: 'later');
        $this->assertSame(2, substr_count($this->cliExpecting(0, 'drain', self::HANDLER, '--limit=2'), ': done'));
        $this->cliExpecting(0, 'drain', self::HANDLER);
        $this->assertSame(['a', 'b', 'c'], $this->done());
        $this->cliExpecting(3, 'drain', self::HANDLER, '--dsn=redis://127.0.0.1:1/0');
    }

    /** @dataProvider commands */
    #[\PHPUnit\Framework\Attributes\DataProvider('commands')]
    public function testAQueueOfTheHandlersOwnIsInTheRedisAndPrefixOfItsWorker(string ...$command): void
    {
        $handler = $this->file('follow.php', '<?php return fn () => (new DelayQueue("follow"))->push(1);');
        (new DelayQueue($this->queueName, $this->redis->dsn(), ['prefix' => 'shop']))->push([]);
        $elsewhere = ['DELAYQUEUE_DSN' => 'redis://127.0.0.1:1/0', 'DELAYQUEUE_PREFIX' => 'elsewhere'];
        $command = str_replace('HANDLER', $handler, $command);
        $result = $this->finish($this->startWith($elsewhere, ...$command, ...['--dsn', $this->redis->dsn(), '--prefix=shop']));
        $this->assertSame(0, $result->exitCode, $result->errors);
        $this->assertCount(1, new DelayQueue('follow', $this->redis->dsn(), ['prefix' => 'shop']), $result->output);
    }

    /** @return array<string, list<string>> */
    public static function commands(): array
    {
        return ['work' => ['work', 'HANDLER', '--stop-when-empty'], 'drain' => ['drain', 'HANDLER'],
            'a pool' => ['work', 'HANDLER', '--stop-when-empty', '--processes=2']];
    }

    public function testTheBootstrapFileMayReadTheSettingsFromADotEnvFile(): void
    {
        $bootstrap = $this->file('dotenv.php', '<?php $_ENV["DELAYQUEUE_DSN"] = ' . var_export($this->redis->dsn(), true) . '; $_SERVER["DELAYQUEUE_PREFIX"] = "shop";');
        (new DelayQueue($this->queueName, $this->redis->dsn(), ['prefix' => 'shop']))->push([], id: 'a');
        foreach ([['work', self::HANDLER, '--stop-when-empty'], ['drain', self::HANDLER]] as $n => $command) {
            (new DelayQueue($this->queueName, $this->redis->dsn(), ['prefix' => 'shop']))->push([], id: "job$n");
            $result = $this->finish($this->startWith(['DELAYQUEUE_DSN' => ''], ...$command, ...["--bootstrap=$bootstrap"]));
            $this->assertSame(0, $result->exitCode, $result->errors);
            $this->assertContains("job$n", $this->done());
        }
    }

    public function testAHandlerHasAnHourUnlessItIsToldOtherwise(): void
    {
        $this->assertMatchesRegularExpression('/--timeout=TIMEOUT .+\[default: "1h"\]/', $this->cliExpecting(0, 'work', '--help'));
        $handler = $this->file('limit.php', <<<'PHP'
            <?php
            return static function (): void {
                $consume = array_values(array_filter(debug_backtrace(), static fn (array $frame): bool => $frame['function'] === 'consume'))[0];
                $names = array_map(static fn (ReflectionParameter $one): string => $one->name, (new ReflectionMethod('DelayQueue::consume'))->getParameters());
                echo json_encode($consume['args'][array_search('timeout', $names, true)]), "\n";
            };
            PHP);
        foreach (['"1h"' => [], '"0"' => ['--timeout=0'], '"90s"' => ['--timeout=90s']] as $limit => $options) {
            $this->queue()->push([]);
            $this->assertSame("$limit\n", $this->cliExpecting(0, 'work', $handler, '--stop-when-empty', '-q', ...$options));
        }
    }

    public function testACancelledJobEndsItsHandlerIfToldSo(): void
    {
        $handler = $this->file('cancelled.php', '<?php return function ($job) { touch("$_SERVER[HANDLER_LOG].begun"); while (true) { usleep(60_000_000); } };');
        $this->queue()->push([], id: 'a');
        $worker = $this->start('work', $handler, '--log=json', '--max-jobs=1', '--throw-on-cancel');
        Wait::until(fn (): bool => is_file("{$this->redis->folder->path}/handler.log.begun"), 20, 'the handler runs');
        $this->queue()->cancel('a');
        $result = $this->finish($worker);
        $this->assertSame([0, 'lost'], [$result->exitCode, json_decode($result->output, true)['outcome'] ?? $result->output], $result->errors);
        $this->assertStringContainsString('renews the lease', $this->cliExpecting(2, 'work', $handler, '--throw-on-cancel', '--no-heartbeat'), 'it would never hear of it');
    }

    public function testItServesSeveralQueuesTheFirstOneFirst(): void
    {
        foreach (['second', 'first'] as $name) {
            (new DelayQueue($name, $this->redis->dsn()))->push([], id: $name);
        }
        $this->cliExpecting(0, ...self::EMPTY, ...['--queue=first', '--queue=second', '--prefetch=10']);
        $this->assertSame(['first', 'second'], $this->done());
    }

    /** @dataProvider limits */
    #[\PHPUnit\Framework\Attributes\DataProvider('limits')]
    public function testALimitEndsIt(string $limit, string $reason, int $done): void
    {
        for ($n = 1; $n <= 3; $n++) {
            $this->queue()->push([]);
        }
        $result = $this->finish($this->start('work', self::HANDLER, '--log=json', '--idle-timeout=0.1', $limit));
        $this->assertSame(0, $result->exitCode, $result->errors);
        $this->assertSame($reason, self::reason($result->errors));
        $this->assertCount($done, $this->done());
    }

    /** @return iterable<string, array{string, string, int}> */
    public static function limits(): iterable
    {
        yield 'jobs' => ['--max-jobs=2', 'maxJobs', 2];
        yield 'time' => ['--max-time=500ms', 'maxTime', 3];
        yield 'nothing due' => ['--stop-when-empty', 'empty', 3];
    }

    /** Why a worker stopped: its last line says so. */
    private static function reason(string $errors): string
    {
        $lines = explode("\n", trim($errors));

        return json_decode((string) end($lines), true, flags: JSON_THROW_ON_ERROR)['reason'];
    }

    public function testMemoryAndTheHandlersWishEndIt(): void
    {
        $this->assertSame('memoryLimit', self::reason($this->cli('work', self::HANDLER, '--log=json', '--memory-limit=100K')->errors));
        $this->queue()->push(['do' => 'stop']);
        $this->assertSame('stopped', self::reason($this->cli('work', self::HANDLER, '--log=json')->errors));
    }

    public function testALongJobKeepsItsLeaseUnlessItIsToldNotTo(): void
    {
        foreach ([[], ['--no-heartbeat']] as $n => $options) {
            $this->queue()->push(['do' => 'wait'], id: "job$n", ttr: 1, maxAttempts: 1);
            $worker = $this->start('work', self::HANDLER, '--max-jobs=1', '--log=json', ...$options);
            $this->holder("job$n");
            $leaseUntil = $this->queue()->peek("job$n")->leaseUntil;
            Wait::until(function () use ($n, $leaseUntil): bool {
                $job = $this->queue()->peek("job$n");

                return $job->state === State::Buried || $job->leaseUntil > $leaseUntil + 0.5;
            }, 20, 'the lease is renewed, or runs out');
            $this->assertSame($n === 0 ? State::Reserved : State::Buried, $this->queue()->peek("job$n")->state);
            $this->letGo("job$n");
            $this->assertSame(0, $this->finish($worker)->exitCode);
        }
    }

    /** @dataProvider signals */
    #[\PHPUnit\Framework\Attributes\DataProvider('signals')]
    public function testASignalLetsItFinishTheJobInHand(int $signal): void
    {
        $this->queue()->push(['do' => 'wait'], id: 'a');
        $this->queue()->push([], id: 'b');
        $worker = $this->start('work', self::HANDLER);
        $this->holder('a');
        $worker->signal($signal);
        $worker->signal($signal);
        $this->letGo('a');
        $this->assertSame(0, $this->finish($worker)->exitCode);
        $this->assertSame(['a'], $this->done());
        $this->assertSame([null, State::Ready], [$this->queue()->peek('a'), $this->queue()->peek('b')->state]);
    }

    /** @dataProvider signals */
    #[\PHPUnit\Framework\Attributes\DataProvider('signals')]
    public function testASignalEndsItAtOnceWhenItHasNothingToDo(int $signal): void
    {
        $worker = $this->start('work', self::HANDLER, '--idle-timeout=60');
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 20, 'it waits');
        $worker->signal($signal);
        $this->assertSame(0, $worker->exitCode());
    }

    public function testASignalBeforeItsLoopBeginsIsHeeded(): void
    {
        $handler = $this->file('signalled.php', '<?php posix_kill(getmypid(), SIGTERM); return fn () => null;');
        $this->queue()->push([], id: 'a');
        $this->assertSame(0, $this->cli('work', $handler)->exitCode);
        $this->assertSame(State::Ready, $this->queue()->peek('a')?->state);
    }

    /** @return array<string, array{int}> */
    public static function signals(): array
    {
        return ['TERM' => [SIGTERM], 'INT' => [SIGINT], 'QUIT' => [SIGQUIT], 'HUP' => [SIGHUP]];
    }

    public function testItSaysWhenRedisGoesAndComesBack(): void
    {
        $worker = $this->start('work', self::HANDLER, '--idle-timeout=0.2');
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 20, 'it waits');
        $this->redis->kill();
        $this->heard($worker, '/Redis is away: .+/');
        $this->redis->start();
        $this->heard($worker, '/Redis is back/');
        $this->queue()->push([], id: 'a');
        $this->assertSame('a', Wait::until(fn () => $this->done()[0] ?? null, 20, 'it works again'));
    }
}
