<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue;
use DelayQueue\Event;
use DelayQueue\Job as NativeJob;
use DelayQueue\LeaseLostException;
use DelayQueue\Psr\WorkerLog;
use DelayQueue\Release;
use DelayQueue\ShutdownException;
use DelayQueue\StopReason;
use DelayQueue\TimeoutException;
use Illuminate\Container\Container;
use Illuminate\Queue\Events\JobTimedOut;
use Illuminate\Queue\Events\WorkerIdle;
use Illuminate\Queue\Worker as BaseWorker;
use Illuminate\Queue\WorkerOptions;
use InvalidArgumentException;
use Throwable;

/**
 * Laravel's rules for each job in the extension's own loop: it acknowledges one job and fetches the next ones in one round trip, renews
 * leases natively, and ends a job at its time limit by an exception instead of ending the process.
 */
final class ConsumingWorker extends Worker
{
    /** Seconds between looks at queue:restart, the maintenance mode, listeners of Looping, and pauses. */
    private const LOOK_EVERY = 1.0;

    /** A duration of consume(): how long after the first signal a job may go on; 0: to its end. */
    public string $shutdownTimeout = '0';

    private float $lookedAt = 0.0;

    private bool $isToRestart = false;

    /** @return int the exit code of queue:work */
    public function consume(string $connectionName, string $queue, WorkerOptions $options, int $prefetch): int
    {
        $connection = $this->manager->connection($connectionName);
        if (!$connection instanceof Queue) {
            throw new InvalidArgumentException("the queue connection [$connectionName] is not of the driver delayqueue: use queue:work");
        }
        $this->begin($options);
        if ($this->supportsAsyncSignals()) {
            $this->listenForSignals($connectionName, $queue, $options);
        }
        $lastRestart = $this->getTimestampOfLastQueueRestart();
        $this->raise('raiseWorkerStartingEvent', $connectionName, $queue, $options);
        $goesOn = fn (): bool => !($this->isToRestart = $this->queueShouldRestart($lastRestart))
            && $this->daemonShouldRun($options, $connectionName, $queue);
        for (;;) {
            $served = $this->unpaused($connectionName, explode(',', $queue));
            if (!$goesOn() || $served === []) {
                if (!$this->isToRestart && !$this->shouldQuit) {
                    $this->sleep($options->sleep > 0 ? $options->sleep : 1);
                }
                if ($this->isToRestart || $this->shouldQuit || $options->stopWhenEmpty || $this->isTimeUp()) {
                    return $this->stop(static::EXIT_SUCCESS, $options);
                }
                continue;
            }
            $isToStay = fn (): bool => $goesOn() && $this->unpaused($connectionName, explode(',', $queue)) === $served;
            $reason = $this->loop($connection, $queue, $served, $options, $prefetch, $isToStay);
            if ($reason !== StopReason::Stopped || $this->isToRestart || $this->shouldQuit) {
                return $this->stop($this->exitCode($reason), $options);
            }
        }
    }

    /** {@inheritdoc} The extension ends a job by an exception, where Laravel's worker would end its process. */
    protected function handleJobException($connectionName, $job, WorkerOptions $options, Throwable $e)
    {
        for ($cause = $e; $cause !== null; $cause = $cause->getPrevious()) {
            // Not a failure: the loop gives the job back uncounted, because nobody has settled it. Views and others wrap what is thrown in them.
            if ($cause instanceof ShutdownException) {
                return;
            }
        }
        if ($e instanceof TimeoutException && !$job->hasFailed()) {
            if (method_exists($this, 'markJobAsFailedIfItShouldFailOnTimeout')) {
                $this->markJobAsFailedIfItShouldFailOnTimeout($connectionName, $job, $e);
            }
            if (class_exists(JobTimedOut::class)) {
                $this->events->dispatch(new JobTimedOut($connectionName, $job));
            }
        }
        parent::handleJobException($connectionName, $job, $options, $e);
    }

    /**
     * @param string $queue all queues of the worker
     * @param non-empty-list<string> $served those that are not paused
     * @param callable(): bool $isToStay
     */
    private function loop(Queue $connection, string $queue, array $served, WorkerOptions $options, int $prefetch, callable $isToStay): StopReason
    {
        TestTime::follow();
        $native = $connection->watching($served);
        $this->lookedAt = hrtime(true) / 1e9;
        $look = function () use ($native, $isToStay): void {
            $now = hrtime(true) / 1e9;
            if ($now - $this->lookedAt >= self::LOOK_EVERY) {
                $this->lookedAt = $now;
                $isToStay() ?: $native->stop();
            }
        };
        $this->listen($native, $connection, $queue, $options, $look);

        return $native->consume(
            function (NativeJob $reserved) use ($connection, $queue, $options, $look): void {
                $this->raise('raiseBeforeJobPopEvent', $connection->getConnectionName(), $queue);
                $this->handle($connection->job($reserved, acknowledgesLater: true), $options);
                $look();
            },
            idleTimeout: self::LOOK_EVERY,
            maxJobs: (int) $options->maxJobs,
            maxTime: (float) $options->maxTime,
            memoryLimit: $options->memory > 0 ? ((int) $options->memory) . 'M' : 0,
            stopWhenEmpty: (bool) $options->stopWhenEmpty,
            prefetch: $prefetch,
            timeout: (float) $options->timeout,
            heartbeat: $connection->settings->heartbeat,
            shutdownTimeout: $this->shutdownTimeout,
        );
    }

    private function handle(Job $job, WorkerOptions $options): void
    {
        if (isset($this->resetScope)) {
            ($this->resetScope)();
        }
        $this->raise('raiseAfterJobPopEvent', $job->getConnectionName(), $job);
        // Not our parent's: leases are kept by the loop here.
        BaseWorker::runJob($job, $job->getConnectionName(), $options);
        if ($options->rest > 0) {
            $this->sleep($options->rest);
        }
        if (!$job->isDeleted() && !$job->native()->isSettled()) {
            // Nobody has settled it: with other drivers, too, it comes back after its lease.
            throw new Release($job->native()->ttr);
        }
    }

    private function listen(DelayQueue $native, Queue $connection, string $queue, WorkerOptions $options, callable $look): void
    {
        $native->on(Event::Idle, function () use ($connection, $queue, $options, $look): void {
            if (class_exists(WorkerIdle::class)) {
                $this->events->dispatch(new WorkerIdle($connection->getConnectionName(), $queue, $options));
            }
            $look();
        });
        $native->on(Event::LeaseLost, static function (Event $event, ?NativeJob $job, ?Throwable $error) use ($connection): void {
            if ($job !== null) {
                $lost = $error instanceof LeaseLostException ? $error : new LeaseLostException('the job is no longer ours', 0, $error);
                $connection->reportLeaseLost($connection->job($job), $lost);
            }
        });
        $container = Container::getInstance();
        if ($container->bound('log')) {
            (new WorkerLog($container['log']))->watch($native, Event::ConnectionLost, Event::ConnectionRestored);
        }
    }

    private function exitCode(StopReason $reason): int
    {
        return $reason === StopReason::MemoryLimit
            ? (int) (property_exists($this, 'memoryExceededExitCode') ? static::$memoryExceededExitCode ?? static::EXIT_MEMORY_LIMIT : static::EXIT_MEMORY_LIMIT)
            : static::EXIT_SUCCESS;
    }

    /** An event that not every version of Laravel knows. */
    private function raise(string $method, mixed ...$arguments): void
    {
        if (method_exists($this, $method)) {
            $this->$method(...$arguments);
        }
    }
}
