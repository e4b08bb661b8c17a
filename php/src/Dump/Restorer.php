<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Internal\Moment;
use DelayQueue\DuplicateJobException;
use DelayQueue\JobInfo;
use DelayQueue\LeaseLostException;
use DelayQueue\State;
use ValueError;

/**
 * Puts the jobs of a dump back, with nothing but what every program can do to a queue.
 *
 * The restorer counts attempts by taking the job as often. While that goes on, the job is parked far in the future, out of reach
 * of the workers, so that none gets it early or half restored. Each id has its own moment to be parked at, to the millisecond:
 * a job that is found at that moment was left there by a load that was broken off, and no program's job is there by chance.
 *
 * @internal
 */
final class Restorer
{
    /** 2070-01-01T00:00:00Z */
    private const PARKED_FROM = 3_155_760_000;

    /** 30 years. */
    private const PARKED_WITHIN_MS = 946_684_800_000;

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
        $due = Moment::of($job->dueAt);

        if ($job->attempts === 0 && !$isBuried && $job->seal === null) {
            return $this->push($job, $due);
        }
        for ($try = 1; ; $try++) {
            if (!$this->push($job, self::parkedUntil($job->id, $isBuried))) {
                if (!self::isUnfinished($this->queue->peek($job->id))) {
                    return false;
                }
                if ($try >= self::TRIES) {
                    throw new LeaseLostException("job $job->id is being loaded by another process as well");
                }
                $this->queue->cancel($job->id);
                continue;
            }
            try {
                $this->replay($job, $due, $isBuried, $reason);

                return true;
            } catch (LeaseLostException $lost) {
                // A TTR shorter than a round trip took; from the beginning.
                if ($try >= self::TRIES) {
                    throw $lost;
                }
            } catch (ValueError $refused) {
                // Its own moment may be too far away for a job, other than the one at which it was parked.
                $this->queue->cancel($job->id);
                throw $refused;
            }
        }
    }

    /** A sealed payload comes later, by way of Job::update(): only a job in hand takes it as it is. */
    private function push(JobLine $job, DateTimeImmutable $due): bool
    {
        [$payload, $headers] = $job->seal === null ? [$job->payload, $job->headers] : ['', []];
        try {
            $this->queue->pushMany([[
                'payload' => $payload, 'delay' => $due, 'id' => $job->id, 'priority' => $job->priority, 'ttr' => $job->ttr,
                'maxAttempts' => $job->maxAttempts, 'backoff' => $job->backoff, 'timeout' => $job->timeout, 'headers' => $headers,
                'extras' => $job->extras,
            ]]);
        } catch (DuplicateJobException) {
            return false;
        } catch (ValueError $error) {
            throw new ValueError(preg_replace('/^.* item 0: "(\w+)"/', '$1', $error->getMessage()), 0, $error);
        }

        return true;
    }

    /** A job that is still at the moment at which its load has parked it. */
    private static function isUnfinished(?JobInfo $found): bool
    {
        if ($found === null) {
            return false;
        }
        $isDue = static fn (DateTimeImmutable $moment): bool => abs($found->dueAt - (float) $moment->format('U.u')) < 0.0005;

        return $isDue(self::parkedUntil($found->id, false))
            || ($found->state !== State::Buried && $isDue(self::parkedUntil($found->id, true)));
    }

    /** @param bool $toBury whether the job is buried at the end of its load */
    private static function parkedUntil(string $id, bool $toBury): DateTimeImmutable
    {
        $number = (int) hexdec(substr(hash('sha256', ($toBury ? 'bury ' : 'wait ') . $id), 0, 13));

        return Moment::of(self::PARKED_FROM + $number % self::PARKED_WITHIN_MS / 1000);
    }

    /** Takes a parked job as often as it has been taken, and leaves it in its last state. */
    private function replay(JobLine $job, DateTimeImmutable $due, bool $isBuried, ?string $reason): void
    {
        $parked = self::parkedUntil($job->id, $isBuried);
        for ($attempt = 1; $attempt < $job->attempts; $attempt++) {
            $this->take($job->id)->release($parked);
        }
        $last = $this->take($job->id);
        if ($job->seal !== null) {
            $last->update($job->payload, $job->headers, $job->seal);
        }
        if (!$isBuried && $reason === null) {
            $last->release($due, countAttempt: $job->attempts > 0);

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
