<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Backoff;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\FreePort;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Wait;

/** What the workers of the command line count by task, and the page of it. */
final class CliTasksTest extends CliTestCase
{
    use EndsPools;

    /** Seconds between the entries of a worker, with which it adds what it has counted. */
    private const EVERY = 12;

    private const ROUTER = '<?php return new DelayQueue\Worker\TaskRouter(
        ["close" => fn ($fails) => $fails && throw new Exception("no")],
        aliases: ["shut" => "close"],
    );';

    public function testCountsByTaskGrowOverADeployAndAKilledWorkerLosesOnlyWhatItHadNotAdded(): void
    {
        $handler = $this->file('handler.php', self::ROUTER);
        $parent = $this->start('work', $handler, '--processes=2');
        $before = $this->ready($parent);
        $this->handle(4, 'close');
        $this->handle(1, 'shut');
        $this->handle(1, 'made up by somebody');
        $this->queue()->push(['task' => 'close', 'params' => true], maxAttempts: 2, backoff: Backoff::fixed('1h'));
        Wait::until(fn (): bool => $this->queue()->stats()->failed === 1, 20, 'one has failed');
        $parent->signal(SIGHUP);
        $after = array_diff($this->ready($parent, 4), $before);
        $this->assertCount(2, $after, 'other processes');
        Wait::until(fn (): bool => $this->close()['runs'] === 6, 20, 'what the old workers have counted');
        $this->assertSame(['close'], array_keys($this->queue()->tasks()), 'the alias is its task, and a task that is unknown is none');
        $this->assertSame(1, $this->close()['failures']);
        $this->handle(2, 'close');
        $this->endWell($parent);
        $this->assertSame(8, $this->close()['runs'], 'the sums go on');

        $killed = $this->start('work', $handler);
        $this->handle(3, 'close');
        $done = microtime(true);
        Wait::until(fn (): bool => $this->close()['runs'] === 11, 20, 'it adds what it has counted');
        $this->assertLessThan(2 * self::EVERY, Machine::lasted($done));
        $this->handle(2, 'close');
        $killed->kill();
        $left = $this->close();
        $this->assertContains($left['runs'], [11, 12, 13]);
        $last = $this->start('work', $handler);
        $this->handle(1, 'close');
        $this->endWell($last);
        $this->assertSame($left['runs'] + 1, $this->close()['runs'], 'the sums go on');
    }

    public function testTasksOfASealedQueueHaveNoNamesInRedis(): void
    {
        $keys = ['k' => random_bytes(32)];
        $this->queue(['keys' => $keys])->push(['task' => 'close', 'params' => false]);
        $sealed = '--keys-file=' . $this->file('keys', 'k ' . base64_encode($keys['k']) . "\n");
        chmod($this->file('keys'), 0o600);
        $this->cliExpecting(0, 'work', $this->file('handler.php', self::ROUTER), $sealed, '--stop-when-empty');
        $this->assertSame([0, []], [$this->queue()->count(), $this->queue()->tasks()]);
        $this->queue(['keys' => $keys, 'signed' => true])->push(['task' => 'close', 'params' => false]);
        $this->cliExpecting(0, 'work', $this->file('handler.php'), $sealed, '--signed', '--stop-when-empty');
        $this->assertSame([0, 1], [$this->queue()->count(), $this->close()['runs']], 'those of a signed one are readable anyway');
    }

    public function testTheMetricsHaveTheCountersOfTasks(): void
    {
        foreach (['close', "evil\"} 1\n\\", str_repeat('é', 1000)] as $task) {
            $this->queue()->push(['task' => $task]);
        }
        $this->queue()->push('no task');
        $this->queue()->drain(static fn () => usleep(2000));
        $listen = '127.0.0.1:' . FreePort::find();
        $this->start('metrics', "--listen=$listen", '--queue=other-*');
        $page = Wait::until(static fn (): string => (string) @file_get_contents("http://$listen/metrics"), 20, 'the page');
        $lines = preg_grep('/delayqueue_task_/', explode("\n", $page));
        $this->assertSame([], preg_grep('/^(# (HELP|TYPE) \w+ .+|delayqueue_task_\w+_total\{task="([^"\\\\]|\\\\.)*"} [\d.]+)$/D', $lines, PREG_GREP_INVERT));
        $this->assertContains('delayqueue_task_runs_total{task="close"} 1', $lines);
        $this->assertContains('delayqueue_task_runs_total{task="evil\"} 1?\\\\"} 1', $lines);
        $this->assertContains('delayqueue_task_runs_total{task="' . str_repeat('é', 50) . '"} 1', $lines);
        $this->assertContains('delayqueue_task_failures_total{task="close"} 0', $lines);
        $this->assertSame(1, preg_match('/^delayqueue_task_seconds_total\{task="close"} ([\d.]+)$/m', $page, $seconds));
        $this->assertGreaterThanOrEqual(0.002, (float) $seconds[1]);
        $this->assertCount(3 * (2 + 3), $lines);

        // Whoever may not read what workers write has the other numbers.
        $this->redis->ask('ACL', 'SETUSER', 'reader', 'on', 'nopass', '~dq:[^{]*', '~dq:{[^#]*', '&dq:*', '+@all');
        $dsn = str_replace('://', '://reader:x@', $this->redis->dsn());
        $listen = '127.0.0.1:' . FreePort::find();
        $this->start('metrics', "--listen=$listen", "--dsn=$dsn");
        $page = Wait::until(static fn (): string => (string) @file_get_contents("http://$listen/metrics"), 20, 'the page');
        $this->assertStringContainsString("delayqueue_jobs{queue=\"$this->queueName\"", $page);
        $this->assertStringNotContainsString('delayqueue_task_', $page);
    }

    /** Waits until so many have run. */
    private function handle(int $number, string $task): void
    {
        $ids = array_map(fn (): string => $this->queue()->push(['task' => $task, 'params' => false]), range(1, $number));
        $isOver = fn (string $id): bool => in_array($this->queue()->peek($id)?->state, [null, State::Buried], true);
        Wait::until(static fn (): bool => count(array_filter($ids, $isOver)) === $number, 20, 'they have run');
    }

    /** @return array{runs: int, failures: int, seconds: float} */
    private function close(): array
    {
        return $this->queue()->tasks()['close'] ?? ['runs' => 0, 'failures' => 0, 'seconds' => 0.0];
    }
}
