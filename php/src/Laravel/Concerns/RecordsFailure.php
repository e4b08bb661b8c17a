<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue\Laravel\Failing\FailedDatabase;
use DelayQueue\Laravel\Failing\FailedJobLog;
use DelayQueue\Laravel\Failing\Failure;
use DelayQueue\Laravel\Failing\FailureNotRecorded;
use DelayQueue\Laravel\Failing\UnreadablePayload;
use Throwable;

/**
 * The end of a job that has failed for the last time: it is acknowledged after its failed(), the listeners of JobFailed
 * and failed_jobs have had it. A crash before that brings it back, and so does a failure to record it.
 */
trait RecordsFailure
{
    /** While fail() works. */
    private ?Failure $recording = null;

    private ?Throwable $thrownByFailed = null;

    private bool $isFiring = false;

    /** Transactions that were open in the database of failed_jobs before the handler was called. Null: it was not. */
    private ?int $level = null;

    /** @var array{FailedJobLog, Failure}|null a record in a transaction of the handler */
    private ?array $uncommitted = null;

    /** {@inheritdoc} A job whose failure has still to be recorded, or whose payload cannot be read, fails at once. */
    public function fire()
    {
        $why = Failure::of($this->reserved)?->exception() ?? $this->unreadable();
        if ($why !== null) {
            $this->fail($why);

            throw $why;
        }
        if (!$this->isInTime()) {
            return;
        }
        $this->level = $this->failedDatabase()->level();
        $this->isFiring = true;
        try {
            parent::fire();
        } finally {
            $this->isFiring = false;
            $this->settleUncommitted();
        }
    }

    /** @throws FailureNotRecorded when the job stays in its queue for that */
    public function fail($e = null)
    {
        if ($this->isDeleted() || $this->recording !== null) {
            parent::fail($e);

            return;
        }
        $earlier = Failure::of($this->reserved);
        $e = $earlier?->exception() ?? $e;
        $this->failure = $earlier?->why ?? ($e instanceof Throwable ? $e : null);
        $this->recording = ($earlier ?? Failure::because($e ?? 'failed by hand'))->begun();
        $this->settle(fn () => $this->recording->storeIn($this->reserved));
        $log = new FailedJobLog($this->container, $this->failedDatabase(), $this, mayBeThere: $earlier !== null);
        $error = null;
        try {
            $this->record($log, $e);
        } catch (Throwable $error) {
            // Below: first it is clear what becomes of the job.
        }
        $failure = $this->recording;
        $this->recording = null;
        if ($error !== null && $error !== $this->thrownByFailed && !$log->isWritten()) {
            $this->putBack($failure, $error->getMessage());

            throw $this->notRecorded($failure, $error);
        }
        if ($log->isWritten() && $this->isFiring && $this->failedDatabase()->level() > $this->level) {
            $this->uncommitted = [$log, $failure];
        } else {
            $this->settleFailed();
        }
        if ($error !== null) {
            throw $error;
        }
    }

    protected function failed($e)
    {
        if ($this->recording?->isTold || !$this->content()->canBeTold) {
            return;
        }
        try {
            parent::failed($e);
        } catch (Throwable $thrown) {
            throw $this->thrownByFailed = $thrown;
        }
        $this->recording = $this->recording?->told();
    }

    /** With bury_failed the job is set aside with the reason. */
    private function settleFailed(): void
    {
        $this->settle(fn () => $this->source->settings->buryFailed
            ? $this->bury($this->failure)
            : $this->reserved->ack(failed: true));
    }

    private function record(FailedJobLog $log, mixed $e): void
    {
        if ($this->recording->attempts > Failure::RELEASES + 1) {
            throw new FailureNotRecorded('each worker that tried has ended before it was done');
        }
        if (!$this->isFiring && $this->level !== null) {
            // The handler has left a transaction open, in which the record would be lost.
            $this->failedDatabase()->rollBackTo($this->level);
        }
        $log->during(fn () => parent::fail($e));
    }

    /** The handler has ended, and with it the transaction in which fail() has recorded the job. */
    private function settleUncommitted(): void
    {
        if ($this->uncommitted === null) {
            return;
        }
        [$log, $failure] = $this->uncommitted;
        $this->uncommitted = null;
        try {
            $this->failedDatabase()->rollBackTo((int) $this->level);
            $error = $log->isThere() ? null : 'the handler has rolled back the transaction of the record';
        } catch (Throwable $thrown) {
            $error = $thrown->getMessage();
        }
        $error === null ? $this->settleFailed() : $this->putBack($failure, $error);
    }

    /** For another worker to record it. */
    private function putBack(Failure $failure, string $error): void
    {
        $reason = "{$failure->summary()}\nCould not be recorded in failed_jobs: $error";
        $this->markAsFailed();
        if ($failure->attempts > Failure::RELEASES) {
            parent::delete();
            $this->settle(fn () => $this->bury($reason));

            return;
        }
        $this->deleted = false;
        parent::release();
        $this->settle(function () use ($failure, $reason): void {
            $failure->storeIn($this->reserved);
            $this->reserved->release(Failure::DELAY, countAttempt: false, error: $reason);
        });
    }

    private function notRecorded(Failure $failure, Throwable $error): FailureNotRecorded
    {
        $message = "The failure of job '{$this->getJobId()}' of queue '{$this->getQueue()}' could not be recorded: "
            . "{$error->getMessage()}; it had failed with {$failure->summary()}";

        return new FailureNotRecorded($message, 0, $error);
    }

    private function failedDatabase(): FailedDatabase
    {
        return new FailedDatabase($this->container);
    }

    private function bury(Throwable|string|null $reason): void
    {
        Failure::removeFrom($this->reserved);
        $this->reserved->bury($reason, failed: true);
    }

    private function unreadable(): ?UnreadablePayload
    {
        $fault = $this->content()->fault;
        $what = "Cannot run job '{$this->getJobId()}' of queue '{$this->getQueue()}'";

        return $fault === null ? null : new UnreadablePayload("$what: the payload cannot be read, $fault");
    }
}
