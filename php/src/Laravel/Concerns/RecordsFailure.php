<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue\Laravel\Failing\FailedJobLog;
use DelayQueue\Laravel\Failing\Failure;
use DelayQueue\Laravel\Failing\FailureNotRecorded;
use DelayQueue\Laravel\Failing\UnreadablePayload;
use Throwable;

/**
 * The end of a job that has failed for the last time: it is acknowledged after its failed(), the listeners of JobFailed and failed_jobs have had it.
 * A crash before that brings it back, and so does a failure to record it.
 */
trait RecordsFailure
{
    /** While fail() works. */
    private ?Failure $recording = null;

    private ?Throwable $thrownByFailed = null;

    /** {@inheritdoc} A job whose failure has still to be recorded, or whose payload cannot be read, fails at once. */
    public function fire()
    {
        $why = Failure::of($this->reserved)?->exception() ?? $this->unreadable();
        if ($why !== null) {
            $this->fail($why);

            throw $why;
        }
        parent::fire();
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
        $log = new FailedJobLog($this->container, $this, mayBeThere: $earlier !== null);
        try {
            if ($this->recording->attempts > Failure::RELEASES + 1) {
                throw new FailureNotRecorded('each worker that tried has ended before it was done');
            }
            $log->during(fn () => parent::fail($e));
        } catch (Throwable $error) {
            if ($error !== $this->thrownByFailed && !$log->isWritten()) {
                $this->notRecorded($error);
            }
            $this->settleFailed();

            throw $error;
        } finally {
            $this->recording = null;
        }
        $this->settleFailed();
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

    private function notRecorded(Throwable $error): never
    {
        $failure = $this->recording;
        $reason = "{$failure->summary()}\nCould not be recorded in failed_jobs: {$error->getMessage()}";
        $this->markAsFailed();
        if ($failure->attempts > Failure::RELEASES) {
            parent::delete();
            $this->settle(fn () => $this->bury($reason));
        } else {
            $this->deleted = false;
            parent::release();
            $this->settle(function () use ($failure, $reason): void {
                $failure->storeIn($this->reserved);
                $this->reserved->release(Failure::DELAY, countAttempt: false, error: $reason);
            });
        }
        $what = "The failure of job '{$this->getJobId()}' of queue '{$this->getQueue()}' could not be recorded";

        throw new FailureNotRecorded("$what: {$error->getMessage()}; it had failed with {$failure->summary()}", 0, $error);
    }

    private function bury(Throwable|string|null $reason): void
    {
        Failure::removeFrom($this->reserved);
        $this->reserved->bury($reason, failed: true);
    }

    private function unreadable(): ?UnreadablePayload
    {
        $fault = $this->content()->fault;

        return $fault === null
            ? null
            : new UnreadablePayload("Cannot run job '{$this->getJobId()}' of queue '{$this->getQueue()}': the payload cannot be read, $fault");
    }
}
