<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** delayqueue workers, and workers:stop, restart, pause and resume, with real workers. */
final class CliWorkersTest extends CliTestCase
{
    /** An idle worker hears an order within twelve seconds. */
    private const HEARD = 20.0;

    public function testWorkersAreListedObeyAndAreOffTheListOnceTheyEndOrWereKilled(): void
    {
        $this->assertSame('', $this->cliExpecting(0, 'workers'));
        $victim = $this->start('work', self::HANDLER, '--queue=others');
        $single = $this->start('work', self::HANDLER, '--queue=single', '--queue=more');
        $this->push('single', 'a');
        $this->push('others', 'b');
        $this->assertSame($single->pid, $this->holder('a'));
        Wait::until(fn () => $this->worker($single)['job']['id'] ?? null, 20, 'the list shows the job');
        $worker = $this->worker($single);
        $this->assertSame(['working', ['single', 'more'], ['single', 'a'], []], [
            $worker['state'], $worker['queues'], [$worker['job']['queue'], $worker['job']['id']], $worker['orders'],
        ]);
        $this->assertGreaterThan(1e6, $worker['memory']);
        $this->assertLessThan(60, microtime(true) - $worker['job']['since']);
        $this->assertMatchesRegularExpression("/^{$worker['host']}:$single->pid +worker +working +single a +\\S+ m?s? *\\d+ MB .* single, more *$/m", $this->cliExpecting(0, 'workers'));
        $this->assertCount(1, $this->json('workers', '--format=json', '--queue=more'));
        $this->assertCount(1, $this->json('workers', '--format=json', "{$worker['host']}:$single->pid"));
        $this->assertCount(0, $this->json('workers', '--format=json', 'elsewhere'));

        Wait::until(fn () => $this->worker($victim), 20, 'the other is listed, too');
        posix_kill($victim->pid, SIGKILL);
        $left = $this->redis->ask('EVAL', "local most = 0 for _, key in ipairs(redis.call('KEYS', 'dq:{#workers}:*')) do most = math.max(most, redis.call('PTTL', key)) end return most", '0');
        $this->assertLessThanOrEqual(28_000, $left, 'its entry ends by itself within 30 s');

        // Nobody of that name, and a name that is none.
        $this->assertSame("0 told to stop\n", $this->cli('workers:stop', 'elsewhere')->output);
        $this->assertSame(1, $this->cli('workers:stop', "{$worker['host']}:1")->exitCode);
        $this->assertStringContainsString("'a:b' must be HOST or HOST:PID", $this->cliExpecting(2, 'workers:stop', 'a:b'));
        $this->cliExpecting(2, 'workers:stop', '--queue=a', '--queue=b');

        // It takes no more jobs, until it is told to go on.
        $this->assertSame("1 told to pause\n", $this->cliExpecting(0, 'workers:pause', '--queue=single'));
        Wait::until(fn () => $this->worker($single)['state'] === 'paused', self::HEARD, 'it is paused');
        $this->push('single', 'c');
        $this->letGo('a');
        $this->letGo('c');
        Wait::until(fn () => $this->worker($single)['job'] === null, self::HEARD, 'it finishes its job');
        $this->assertSame(['a'], $this->done());
        $this->cliExpecting(0, 'workers:resume', "{$worker['host']}:$single->pid");
        Wait::until(fn () => $this->done() === ['a', 'c'], self::HEARD, 'it takes jobs again');

        $this->push('single', 'd');
        $this->assertSame($single->pid, $this->holder('d'));
        $this->cliExpecting(0, 'workers:restart', '--queue=single');
        Wait::until(fn () => $this->worker($single)['state'] === 'stopping', self::HEARD, 'it is to end');
        $this->letGo('d');
        $this->assertSame(75, $single->exitCode(), $single->errors());
        $this->assertStringContainsString('stopped: restart', $single->errors());
        $this->assertNull($this->worker($single), 'one that ends is off the list at once');

        Wait::until(fn () => $this->worker($victim) === null, 40, 'the killed one is off the list');
    }

    public function testAParentReplacesThoseThatRestartAndNotThoseThatStop(): void
    {
        $parent = $this->start('work', self::HANDLER, '--processes=2');
        $this->push($this->queueName, 'a');
        $this->push($this->queueName, 'b');
        [$first, $second] = [$this->holder('a'), $this->holder('b')];
        $host = Wait::until(fn () => count($this->workers()) === 2 ? $this->workers()[0]['host'] : null, 20, 'both are listed');
        $this->cliExpecting(0, 'workers:restart', "$host:$first");
        Wait::until(fn () => in_array('stopping', array_column($this->workers(), 'state'), true), self::HEARD, 'one hears it');
        $this->letGo('a');
        $replaced = "/\\(process $first\\) ended with exit code 0; another starts.*^\\S+ worker \\d \\(process (\\d+)\\) is ready/ms";
        [[, $replacement]] = $this->heard($parent, $replaced);
        $this->push($this->queueName, 'c');
        $this->assertSame((int) $replacement, $this->holder('c'));
        Wait::until(fn () => count($this->workers()) === 2, 20, 'the new one is listed');
        $busy = "delayqueue_workers{queue=\"$this->queueName\",state=\"working\"} 2\n";
        Wait::until(fn () => str_contains($this->cliExpecting(0, 'stats', '--format=prometheus'), $busy), 20, 'Prometheus sees both');
        $this->assertSame("2 told to stop\n", $this->cliExpecting(0, 'workers:stop'));
        Wait::until(fn () => array_unique(array_column($this->workers(), 'state')) === ['stopping'], self::HEARD, 'both hear it');
        $this->letGo('b');
        $this->letGo('c');
        $this->assertSame(0, $parent->exitCode(), $parent->errors());
        $this->assertSame(3, substr_count($parent->errors(), ' started'), 'nobody takes the place of one that was stopped');
        $this->assertStringContainsString("(process $second) ended with exit code 0\n", $parent->errors());
        $this->assertSame([], $this->workers());
    }

    public function testEntriesOfOthersGiveATerminalNoOrders(): void
    {
        $entry = json_encode([
            'host' => "evil\e[31m", 'pid' => 7, 'kind' => "\e[2J", 'version' => "\e]0;x\7", 'state' => 'working', 'queues' => ['fine', "\e[2J"],
            'job' => ['queue' => "<error>\e[2J", 'id' => "\e[2J", 'ms' => 1], 'up_ms' => 1, 'listed_ms' => 28000,
        ], JSON_THROW_ON_ERROR);
        $this->redis->ask('SET', 'dq:{#workers}:x', $entry);
        $this->redis->ask('ZADD', 'dq:{#workers}:index', '9999999999', 'x');
        foreach (['text', 'json'] as $format) {
            $printed = $this->cliExpecting(0, 'workers', "--format=$format");
            $this->assertStringContainsString('evil\u001b[31m', $printed);
            $this->assertDoesNotMatchRegularExpression('/[\x00-\x09\x0B-\x1F]/', $printed);
        }
    }

    private function push(string $queue, string $id): void
    {
        $this->cliExpecting(0, 'push', '{"do": "wait"}', "--queue=$queue", "--id=$id");
    }

    /** @return list<array<string, mixed>> */
    private function workers(): array
    {
        return $this->queue()->workers();
    }

    /** @return array<string, mixed>|null */
    private function worker(Process $process): ?array
    {
        return array_values(array_filter($this->workers(), static fn (array $worker): bool => $worker['pid'] === $process->pid))[0] ?? null;
    }
}
