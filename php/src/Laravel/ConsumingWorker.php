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
use Illuminate\Queue\WorkerStopReason;
use InvalidArgumentException;
use Throwable;

/**
 * Laravel's rules for each job in the extension's own loop: it acknowledges one job and fetches the next ones in one round trip, renews
 * leases natively, and ends a job at its time limit by an exception instead of ending the process.
 */
final class ConsumingWorker extends Worker
{
    /** Cases of Laravel's WorkerStopReason, by those of the extension's loop. */
    private const REASONS = [
        'signal' => 'Interrupted',
        'maxJobs' => 'MaxJobsExceeded',
        'maxTime' => 'MaxTimeExceeded',
        'memoryLimit' => 'MaxMemoryExceeded',
        'empty' => 'QueueEmpty',
        'ordered' => 'Interrupted',
        'restart' => 'ReceivedRestartSignal',
    ];

    /** Seconds between looks at queue:restart, the maintenance mode, listeners of Looping, and pauses. */
    private const LOOK_EVERY = 1.0;

    /** A duration of consume(): how long after the first signal a job may go on; 0: to its end. */
    public string $shutdownTimeout = '0';

    private float $lookedAt = 0.0;

    /** Why the worker ends, as a case of Laravel's WorkerStopReason. Null: it goes on. */
    private ?string $endsFor = null;

    private float $jobEndedAt = 0.0;

    /** @return int the exit code of queue:work */
    public function consume(string $connectionName, string $queue, WorkerOptions $options): int
    {
        $connection = $this->manager->connection($connectionName);
        if (!$connection instanceof Queue) {
            throw new InvalidArgumentException("the queue connection [$connectionName] is not of the driver delayqueue: use queue:work");
        }
        $this->begin($options);
        $this->endsFor = null;
        $this->countJob(0);
        if ($this->supportsAsyncSignals()) {
            $this->listenForSignals($connectionName, $queue, $options);
        }
        $lastRestart = $this->getTimestampOfLastQueueRestart();
        $this->raise('raiseWorkerStartingEvent', $connectionName, $queue, $options);
        $goesOn = function () use ($lastRestart, $options, $connectionName, $queue): bool {
            $this->endsFor ??= $this->reasonToEnd($lastRestart, $options);

            return $this->endsFor === null && $this->daemonShouldRun($options, $connectionName, $queue);
        };
        for (;;) {
            $served = $this->unpaused($connectionName, explode(',', $queue));
            if (!$goesOn() || $served === []) {
                if ($this->endsFor === null) {
                    $this->sleep($options->sleep > 0 ? $options->sleep : 1);
                    $this->endsFor = $this->reasonToEnd($lastRestart, $options) ?? match (true) {
                        (bool) $options->stopWhenEmpty => 'QueueEmpty',
                        $this->isTimeUp() => 'MaxTimeExceeded',
                        default => null,
                    };
                }
                if ($this->endsFor !== null) {
                    return $this->end(static::EXIT_SUCCESS, $options, $this->endsFor);
                }
                continue;
            }
            $isToStay = fn (): bool => $goesOn() && $this->unpaused($connectionName, explode(',', $queue)) === $served;
            $reason = $this->loop($connection, $queue, $served, $options, $isToStay);
            $endsFor = $this->endsFor ?? $this->reasonToEnd($lastRestart, $options);
            if ($reason !== StopReason::Stopped || $endsFor !== null) {
                return $this->end($this->exitCode($reason), $options, $endsFor ?? self::REASONS[$reason->value]);
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
    private function loop(
        Queue $connection,
        string $queue,
        array $served,
        WorkerOptions $options,
        callable $isToStay,
    ): StopReason {
        TestTime::follow();
        $native = $connection->watching($served);
        $this->lookedAt = hrtime(true) / 1e9;
        $look = function () use ($native, $isToStay): void {
            $now = hrtime(true) / 1e9;
            if ($now - $this->lookedAt >= self::LOOK_EVERY || $this->shouldQuit || ($this->lostConnection ?? false)) {
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
            timeout: (float) $options->timeout,
            heartbeat: $connection->settings->heartbeat,
            shutdownTimeout: $this->shutdownTimeout,
            task: Payload::classOf($native),
        );
    }

    private function handle(Job $job, WorkerOptions $options): void
    {
        if (isset($this->resetScope)) {
            ($this->resetScope)();
        }
        $this->raise('raiseAfterJobPopEvent', $job->getConnectionName(), $job);
        $this->countJob(1);
        // Not our parent's: leases are kept by the loop here.
        BaseWorker::runJob($job, $job->getConnectionName(), $options);
        $this->jobEndedAt = hrtime(true) / 1e9;
        if (property_exists($this, 'lastJobProcessedAt')) {
            $this->lastJobProcessedAt = $this->jobEndedAt;
        }
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

    /** For listeners of WorkerStopping, in versions of Laravel that tell them. 0: none so far. */
    private function countJob(int $more): void
    {
        if (property_exists($this, 'jobsProcessed')) {
            $this->jobsProcessed = $more === 0 ? 0 : $this->jobsProcessed + $more;
        }
    }

    /** A case of WorkerStopReason, or null. */
    private function reasonToEnd(mixed $lastRestart, WorkerOptions $options): ?string
    {
        $mostIdle = (float) ($options->stopWhenEmptyFor ?? 0);
        $idle = hrtime(true) / 1e9 - max($this->jobEndedAt, $this->startedAt);

        return match (true) {
            $this->lostConnection ?? false => 'LostConnection',
            $this->shouldQuit => 'Interrupted',
            $this->queueShouldRestart($lastRestart) => 'ReceivedRestartSignal',
            $mostIdle > 0 && $idle >= $mostIdle => 'QueueEmptyFor',
            default => null,
        };
    }

    /** Ends the worker, and says why in versions of Laravel that tell listeners of it. */
    private function end(int $status, WorkerOptions $options, string $reason): int
    {
        $isKnown = class_exists(WorkerStopReason::class);

        return $this->stop($status, $options, $isKnown ? constant(WorkerStopReason::class . "::$reason") : null);
    }

    private function exitCode(StopReason $reason): int
    {
        return $reason === StopReason::MemoryLimit
            ? (int) (static::$memoryExceededExitCode ?? static::EXIT_MEMORY_LIMIT)
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
