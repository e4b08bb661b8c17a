<?php

declare(strict_types=1);

namespace DelayQueue\Console\Dump;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Console\Text;
use DelayQueue\DuplicateJobException;
use DelayQueue\LeaseLostException;
use DelayQueue\State;

/**
 * Puts the jobs of a dump back, with nothing but what every program can do to a queue.
 *
 * Attempts are counted by taking the job as often. While that goes on it is parked far in the future, out of reach of the
 * workers, so that none gets it early or half restored; and a job found parked is one that a load did not finish.
 */
final class Restorer
{
    /** 2099-12-31T23:59:59Z */
    private const PARKED = 4102444799.0;

    private const TRIES = 5;

    /** @param DelayQueue $queue with format 'raw' */
    public function __construct(private readonly DelayQueue $queue)
    {
    }

    /** @return bool false when its id is in the queue already: that job is left as it is */
    public function restore(JobLine $job): bool
    {
        $isExpired = $job->state === State::Reserved;
        $isSpent = $job->maxAttempts > 0 && $job->attempts >= $job->maxAttempts;
        $isBuried = $job->state === State::Buried || ($isExpired && $isSpent);
        $reason = $isExpired ? 'lease expired' : $job->lastError;
        $due = Text::toMoment($job->dueAt);

        if ($job->attempts === 0 && !$isBuried) {
            return $this->push($job, $due);
        }
        for ($try = 1; ; $try++) {
            if (!$this->push($job, Text::toMoment(self::PARKED))) {
                if (!$this->isUnfinished($job->id, $isBuried, $reason)) {
                    return false;
                }
                $this->queue->cancel($job->id);
                continue;
            }
            try {
                $this->replay($job, $due, $isBuried, $reason);

                return true;
            } catch (LeaseLostException $lost) {
                // A TTR shorter than a round trip took; from the beginning.
                if ($try === self::TRIES) {
                    throw $lost;
                }
            }
        }
    }

    private function push(JobLine $job, DateTimeImmutable $due): bool
    {
        try {
            $this->queue->push($job->payload, $due, $job->id, $job->priority, $job->ttr, $job->maxAttempts, $job->backoff, $job->timeout);
        } catch (DuplicateJobException) {
            return false;
        }

        return true;
    }

    private function isUnfinished(string $id, bool $isBuried, ?string $reason): bool
    {
        $found = $this->queue->peek($id);

        return $found !== null && $found->dueAt === self::PARKED
            && !($isBuried && $found->state === State::Buried && $found->lastError === $reason);
    }

    /** Takes a parked job as often as it has been taken, and leaves it in its last state. */
    private function replay(JobLine $job, DateTimeImmutable $due, bool $isBuried, ?string $reason): void
    {
        for ($attempt = 1; $attempt < $job->attempts; $attempt++) {
            $this->take($job->id)->release(Text::toMoment(self::PARKED));
        }
        $last = $this->take($job->id);
        if (!$isBuried && $reason === null) {
            $last->release($due);

            return;
        }
        // Burying keeps the reason, word for word, and keeps the job from workers until it has its time.
        $last->bury($reason);
        if (!$isBuried) {
            $this->queue->reschedule($job->id, $due);
        }
    }

    private function take(string $id): DelayQueue\Job
    {
        return $this->queue->reserveJob($id) ?? throw new LeaseLostException("job $id went away while it was being loaded");
    }
}
