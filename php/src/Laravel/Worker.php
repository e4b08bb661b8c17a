<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue\Exception as DelayQueueException;
use DelayQueue\RateLimited;
use Illuminate\Queue\Worker as BaseWorker;
use Illuminate\Queue\WorkerOptions;
use Throwable;

/**
 * Laravel's worker, with four differences for jobs of delayqueue: it waits for them instead of sleeping, keeps their leases alive while they
 * run, gives back a job whose time limit ends the process, and is on the list of workers(). Other connections are worked as ever.
 */
class Worker extends BaseWorker
{
    use Concerns\LooksAround;
    use Concerns\TakesOrders;

    private ?WorkerOptions $options = null;

    private bool $isDaemon = false;

    protected float $startedAt = 0.0;

    /** The last round has waited: sleeping would only make the next job late. */
    private bool $hasWaited = false;

    private ?Queue $waitsIn = null;

    private ?Job $running = null;

    /** With all that the framework, in whatever version, gave to its own worker. */
    public static function inPlaceOf(BaseWorker $worker): static
    {
        return new static($worker->manager, $worker->events, $worker->exceptions, $worker->isDownForMaintenance, $worker->resetScope);
    }

    public function daemon($connectionName, $queue, WorkerOptions $options)
    {
        $this->begin($options);
        $this->isDaemon = true;
        $this->lastRestart = $this->getTimestampOfLastQueueRestart();

        return parent::daemon($connectionName, $queue, $options);
    }

    public function runNextJob($connectionName, $queue, WorkerOptions $options)
    {
        $this->begin($options);

        return parent::runNextJob($connectionName, $queue, $options);
    }

    public function sleep($seconds)
    {
        if ($this->hasWaited) {
            $this->hasWaited = false;

            return;
        }
        parent::sleep($seconds);
    }

    /** The time limit of a job ends the process: the job need not wait for its lease to end as well. */
    public function kill(...$arguments)
    {
        $this->giveBack();
        $this->leave();

        return parent::kill(...$arguments);
    }

    public function stop(...$arguments)
    {
        $this->leave();

        return parent::stop(...$arguments);
    }

    protected function getNextJob($connection, $queue)
    {
        $this->hasWaited = false;
        if (!$connection instanceof Queue) {
            return parent::getNextJob($connection, $queue);
        }
        // A callback of the application's own asks queue after queue, as it likes.
        $asksItself = isset(static::$popCallbacks[$this->name ?? '']);
        $patience = $asksItself ? 0 : $this->patience($connection);
        $looksAround = $patience > 0 && $this->isDaemon && $this->supportsAsyncSignals();
        $queues = explode(',', (string) $queue);
        // The first pop asks all queues, whereas the framework looks for a pause before each of its own.
        $this->served = count($queues) > 1 ? $this->unpaused($connection->getConnectionName(), $queues) : $queues;
        $this->isDaemon && $this->enlist($connection, $this->served);
        $connection->beginLoop(
            $asksItself ? null : $this->served,
            $looksAround ? $this->limited(max($patience, self::$longWait)) : $patience,
        );
        $this->waitsIn = $connection;
        if ($looksAround) {
            $this->lookAroundEvery($patience, $connection, (string) $queue, $this->options);
        }
        $job = null;
        try {
            return $job = parent::getNextJob($connection, $queue);
        } finally {
            $this->waitsIn = null;
            if ($looksAround) {
                pcntl_alarm(0);
            }
            // A worker that stops when there is no job need not sleep on it.
            $this->hasWaited = ($connection->endLoop() || $this->options?->stopWhenEmpty) && $job === null;
        }
    }

    protected function runJob($job, $connectionName, WorkerOptions $options)
    {
        if (!$job instanceof Job) {
            return parent::runJob($job, $connectionName, $options);
        }
        $this->running = $job;
        // Without a limit: a job may extend that of its worker with pcntl_alarm().
        $job->keepAlive();
        try {
            return parent::runJob($job, $connectionName, $options);
        } finally {
            $this->running = null;
            $job->letGo();
        }
    }

    /** {@inheritdoc} The framework releases the job without the exception, so the job is told of it before. */
    protected function handleJobException($connectionName, $job, WorkerOptions $options, Throwable $e)
    {
        if ($job instanceof Job && $e instanceof RateLimited) {
            $job->rateLimited($e);

            return;
        }
        if ($job instanceof Job) {
            $job->runFailed($e);
        }
        parent::handleJobException($connectionName, $job, $options, $e);
    }

    protected function listenForSignals(...$arguments)
    {
        parent::listenForSignals(...$arguments);
        foreach ([SIGTERM, SIGINT, SIGQUIT, SIGUSR2] as $signal) {
            $handler = pcntl_signal_get_handler($signal);
            if (is_callable($handler)) {
                pcntl_signal($signal, function (int $signal, mixed $info) use ($handler): void {
                    $handler($signal, $info);
                    $this->waitsIn?->interrupt();
                });
            }
        }
    }

    /** The extension connects anew by itself. */
    protected function stopWorkerIfLostConnection($e)
    {
        if (!$e instanceof DelayQueueException) {
            parent::stopWorkerIfLostConnection($e);
        }
    }

    protected function begin(WorkerOptions $options): void
    {
        $this->options = $options;
        $this->startedAt = hrtime(true) / 1e9;
    }

    /** The process has run for as long as it may. */
    protected function isTimeUp(): bool
    {
        return $this->options?->maxTime > 0 && hrtime(true) / 1e9 - $this->startedAt >= $this->options->maxTime;
    }

    /** Seconds that a round may last. */
    private function patience(Queue $connection): int|float
    {
        if ($this->options?->stopWhenEmpty) {
            return 0;
        }

        return $this->limited($connection->settings->blockFor ?? max(0, (float) ($this->options?->sleep ?? 0)));
    }

    /** Not beyond the limits of the worker. */
    private function limited(int|float $seconds): int|float
    {
        $limits = [$seconds];
        if (($this->options?->stopWhenEmptyFor ?? 0) > 0) {
            $limits[] = (float) $this->options->stopWhenEmptyFor;
        }
        if ($this->options?->maxTime > 0) {
            $limits[] = max(0, (float) $this->options->maxTime - (hrtime(true) / 1e9 - $this->startedAt));
        }

        return min($limits);
    }

    private function giveBack(): void
    {
        $job = $this->running;
        if ($job === null || $job->isDeletedOrReleased() || $job->hasFailed()) {
            return;
        }
        $options = $this->options ?? new WorkerOptions();
        try {
            $job->runFailed("timed out after {$this->timeoutForJob($job, $options)} s");
            $job->release($this->calculateBackoff($job, $options));
        } catch (Throwable $exception) {
            $this->exceptions->report($exception);
        }
    }
}
