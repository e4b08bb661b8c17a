<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use DelayQueue\ConnectionException;
use DelayQueue\Flow\Batch;
use DelayQueue\Flow\Chain;
use DelayQueue\Internal\Invalid;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\Sealed;
use DelayQueue\Internal\StoredJob;
use DelayQueue\JobInfo;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\SealException;
use DelayQueue\State;
use Throwable;
use ValueError;

/**
 * Moves jobs from one queue into another. A job is held, arrives there once under its receipt, and is acknowledged here.
 *
 * @internal
 */
final class Move
{
    private readonly QueueInterface $source;

    private readonly QueueInterface $target;

    private readonly MoveReceipts $receipts;

    private readonly bool $isSealing;

    /** Unix seconds, by Redis' clock. */
    private readonly float $startedAt;

    /**
     * @param float|null $startedAt Unix seconds, by Redis' clock: of a move that goes on
     *
     * @throws ValueError when both are one queue
     * @throws SealException when the target has sealed jobs, and this object of it has no keys
     */
    public function __construct(QueueInterface $source, QueueInterface $target, ?float $startedAt = null)
    {
        if ($source === $target || MoveReceipts::areOne($source, $target)) {
            throw Invalid::argument(Search::class . '::moveTo(): Argument #1 ($target)', 'must be another queue');
        }
        // A queue that expects JSON would bury what is none.
        $this->source = $source->sibling($source->name(), StoredJob::QUEUE);
        $this->target = $target->sibling($target->name(), StoredJob::QUEUE);
        $this->isSealing = $target->settings()->isSealed;
        Sealed::refuseWithoutKeys($target);
        $this->receipts = new MoveReceipts($source, $target);
        $this->startedAt = $startedAt ?? $source->now();
    }

    /**
     * Ends the moves that were broken off, whichever jobs are searched now: a lease that ended may have changed the state of its job.
     *
     * @return int how many
     */
    public function settle(): int
    {
        $settled = 0;
        foreach ($this->receipts->ids() as $id) {
            $job = $this->source->peek($id);
            $isHere = $job !== null && $job->state !== State::Reserved && $this->receipts->isOld($job);
            $held = $isHere && $this->isOpen($job) && $this->wasBrokenOff($job) ? $this->source->reserveJob($id) : null;
            $settled += $held !== null && $this->leaves($job, $held) ? 1 : 0;
        }

        return $settled;
    }

    /**
     * @return bool|null false: it stays, because its id is taken there, or it has changed or cannot be opened; null: it was buried since the move began
     *
     * @throws SealException when keys are missing; nothing has been done to the job
     */
    public function move(JobInfo $job): ?bool
    {
        if ($job->state === State::Buried && $job->dueAt > $this->startedAt) {
            return null; // stays() has buried it anew, and it comes by again behind the others
        }
        if (!$this->wouldMove($job)) {
            return false;
        }
        $now = $this->source->peek($job->id);
        $held = $now !== null && self::isUnchanged($job, $now) ? $this->source->reserveJob($job->id) : null;
        if ($held === null) {
            return false;
        }

        try {
            $isThere = self::isWhatWasSeen($job, $held) && $this->arrives($job);
        } catch (Throwable $error) {
            // Where the target may have it, it is left as by a crash: the lease ends, and the next move finds the receipt.
            $error instanceof ConnectionException && $error->ambiguous || $this->stays($job, $held);
            throw $error;
        }

        return $isThere ? $this->leaves($job, $held) : $this->stays($job, $held);
    }

    /**
     * Whether the job may move, as it is seen now.
     *
     * @throws SealException when keys are missing
     */
    public function wouldMove(JobInfo $job): bool
    {
        return $job->state !== State::Reserved && $this->isOpen($job) && !self::isOfFlow($job) && $this->isFree($job);
    }

    /** A chain or a batch looks for its jobs in their queue: one that is not there counts as done. */
    private static function isOfFlow(JobInfo $job): bool
    {
        return isset($job->headers[Chain::HEADER]) || isset($job->headers[Batch::HEADER]);
    }

    /** To hold a job that this object cannot open would bury it. */
    private function isOpen(JobInfo $job): bool
    {
        if ($job->seal !== null && ($job->sealError === null ? !$this->isSealing : !$this->source->settings()->isSealed)) {
            $queue = $job->sealError === null ? $this->target : $this->source;
            throw new SealException("queue {$queue->name()} needs keys: job '$job->id' is sealed");
        }

        return $job->sealError === null;
    }

    /** A job that is there may be this very one, of a move that was broken off: then its receipt is there, too. */
    private function isFree(JobInfo $job): bool
    {
        $there = $this->target->peek($job->id);

        return $there === null || $there->createdAt === $job->createdAt && $this->receipts->isOld($job);
    }

    private static function isUnchanged(JobInfo $job, JobInfo $now): bool
    {
        return $now->state === $job->state || $job->state === State::Delayed && $now->state === State::Ready;
    }

    private static function isWhatWasSeen(JobInfo $job, JobInterface $held): bool
    {
        return [$held->createdAt, $held->dueAt, $held->attempts - 1, $held->priority, $held->body, $held->headers]
            === [$job->createdAt, $job->dueAt, $job->attempts, $job->priority, $job->body, $job->headers];
    }

    private function arrives(JobInfo $job): bool
    {
        $pushed = $this->target->pushOnce([$this->item($job)]);
        if ($pushed->known > 0 && $this->receipts->isOld($job) && !$this->wasBrokenOff($job)) {
            $this->receipts->forget($job);
            $pushed = $this->target->pushOnce([$this->item($job)]);
        }
        if ($pushed->kept > 0) {
            $this->receipts->forget($job); // it would say that the job has arrived
        }

        return $pushed->kept === 0;
    }

    /**
     * A move that was broken off has left a copy, or a lease that ended. Else the receipt is of an earlier move of a job that has come back since, by way
     * of a third queue: straight back, its receipt is forgotten.
     */
    private function wasBrokenOff(JobInfo $job): bool
    {
        $copy = $this->target->peek($job->id);

        return $copy === null ? $this->receipts->hasOutlived($job) : $copy->createdAt === $job->createdAt;
    }

    private function leaves(JobInfo $job, JobInterface $held): bool
    {
        try {
            $held->ack();
        } catch (LeaseLostException) {
            return false; // the receipt stays, for the next move of this job
        }
        $this->receipts->forget($job);

        return true;
    }

    private function stays(JobInfo $job, JobInterface $held): bool
    {
        try {
            $job->state === State::Buried ? $held->bury($held->lastError) : $held->release(Moment::of($held->dueAt), countAttempt: false);
        } catch (LeaseLostException) {
            // Somebody has cancelled it, or has it now.
        }

        return false;
    }

    /** @return array<string, mixed> for pushOnce() */
    private function item(JobInfo $job): array
    {
        $past = [
            'attempts' => $job->attempts,
            'timeouts' => $job->timeouts,
            'releases' => $job->releases,
            'buries' => $job->buries,
            'kicks' => $job->kicks,
            'firstDueAt' => $job->firstDueAt ?? $job->dueAt,
            'lastError' => $job->lastError,
        ];
        $isNew = $job->state === State::Delayed && $job->extras === null && $job->firstDueAt === null;

        return [
            'receipt' => $this->receipts->of($job),
            'delay' => Moment::of($job->dueAt),
            'createdAt' => $job->createdAt,
        ] + StoredJob::item($job) + ($isNew ? [] : ['past' => $past]) + ($job->state === State::Buried ? ['state' => State::Buried] : []);
    }
}
