<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\WorkerOrder;

/** enlist(): what is promised of a loop of the program's own, by processes that have one. */
final class OwnLoopTest extends ProcessTestCase
{
    private Process $stopped;
    private Process $restarted;
    private Process $killed;

    public function testALoopOfOnesOwnIsListedObeysOrdersAndLeavesTheListHoweverItEnds(): void
    {
        foreach (['stopped', 'restarted', 'killed'] as $name) {
            $this->$name = Php::program('own_loop.php', $this->redis->dsn(), $this->queueName);
        }
        foreach ([$this->stopped, $this->restarted, $this->killed] as $loop) {
            $loop->hear('enlisted');
            $entry = Wait::promised(fn (): ?array => $this->listed($loop), 1, 'it is listed');
            $this->assertSame(['own', 'idle', [$this->queueName]], [$entry['kind'], $entry['state'], $entry['queues']]);
        }
        $this->killed->kill();
        $killedAt = microtime(true);

        $this->tell(WorkerOrder::Pause, $this->stopped);
        $this->tell(WorkerOrder::Restart, $this->restarted);
        Wait::promised(fn (): bool => ($this->listed($this->stopped)['state'] ?? '') === 'paused', 12, 'it is paused');
        $this->stopped->hear('heard Pause');
        Wait::promised(fn (): bool => !$this->restarted->isRunning(), 12, 'it has heard that it is to restart');
        $this->assertSame([0, "heard Restart\n"], [$this->restarted->exitCode(), $this->restarted->rest()]);
        $this->assertNull($this->listed($this->restarted), 'one that ends is off the list at once');
        Wait::promised(fn (): bool => $this->listed($this->killed) === null, 28, 'the killed one is off the list', $killedAt);

        $this->queue()->push('later', id: 'later');
        $this->tell(WorkerOrder::Resume, $this->stopped);
        Wait::promised(fn (): bool => $this->queue()->count() === 0, 12, 'it takes jobs again');
        // The first job comes with the wait in which the order was heard.
        $this->assertSame(['did later', 'heard Resume'], [$this->stopped->line(), $this->stopped->line()]);
        $this->tell(WorkerOrder::Stop, $this->stopped);
        Wait::promised(fn (): bool => !$this->stopped->isRunning(), 12, 'it has heard that it is to stop');
        $this->assertSame([0, "heard Stop\n"], [$this->stopped->exitCode(), $this->stopped->rest()]);
        $this->assertNull($this->listed($this->stopped), 'one that ends is off the list at once');
        $this->assertSame([], $this->queue()->workers());
    }

    private function tell(WorkerOrder $order, Process $loop): void
    {
        $this->assertSame(1, $this->queue()->tellWorkers($order, $this->listed($loop)['host'], $loop->pid));
    }

    /** @return array<string, mixed>|null its entry in the list of workers */
    private function listed(Process $loop): ?array
    {
        return array_values(array_filter($this->queue()->workers(), static fn (array $worker): bool => $worker['pid'] === $loop->pid))[0] ?? null;
    }
}
