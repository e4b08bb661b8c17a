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
            // From Laravel 12 on: the pauses that the cache knows and the queue in Redis does not.
            || (method_exists($this, 'getPausedQueues') && $this->getPausedQueues($connectionName, explode(',', $queue)) !== []);
    }
}
