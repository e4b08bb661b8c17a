<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue\Laravel\Queue;
use Illuminate\Queue\WorkerOptions;

/**
 * Lets one wait last for many rounds. Ending a wait and beginning the next one costs Redis some thirty commands, looking at
 * queue:restart and the like costs it none: so the worker looks at these in a signal handler while the wait goes on.
 */
trait LooksAround
{
    /** Seconds. */
    private static int $longWait = 60;

    private mixed $lastRestart = null;

    /** @var list<string> the queues of this round */
    private array $served = [];

    /** From now on, every so many seconds: does the worker have to leave its wait? */
    private function lookAroundEvery(int|float $seconds, Queue $connection, string $queue, WorkerOptions $options): void
    {
        $every = max(1, (int) ceil($seconds));
        pcntl_signal(SIGALRM, function () use ($every, $connection, $queue, $options): void {
            if ($this->waitsIn === null) {
                return;
            }
            if ($this->isToLeave($connection->getConnectionName(), $queue, $options)) {
                $connection->interrupt();
            } else {
                pcntl_alarm($every);
            }
        });
        pcntl_alarm($every);
    }

    private function isToLeave(string $connectionName, string $queue, WorkerOptions $options): bool
    {
        return $this->shouldQuit
            || $this->queueShouldRestart($this->lastRestart)
            || !$this->daemonShouldRun($options, $connectionName, $queue)
            || $this->unpaused($connectionName, explode(',', $queue)) !== $this->served;
    }

    /**
     * From Laravel 12 on its cache knows of pauses, and the queue in Redis may not: it has lost them, or was not in use yet.
     *
     * @param list<string> $queues
     *
     * @return list<string> those that the cache does not call paused
     */
    protected function unpaused(string $connectionName, array $queues): array
    {
        $paused = match (true) {
            method_exists($this, 'getPausedQueues') => $this->getPausedQueues($connectionName, $queues),
            method_exists($this, 'queuePaused') => array_filter($queues, fn (string $queue): bool => $this->queuePaused($connectionName, $queue)),
            default => [],
        };

        return array_values(array_diff($queues, $paused));
    }
}
