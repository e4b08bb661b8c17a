<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use Closure;
use DelayQueue\Bury;
use DelayQueue\ConnectionException;
use DelayQueue\Event;
use DelayQueue\Exception;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\RateLimited;
use DelayQueue\Release;
use DelayQueue\ServerException;
use DelayQueue\ShutdownException;
use DelayQueue\State;
use DelayQueue\TimeoutException;
use Throwable;

/**
 * Settles the jobs of a chunk as consume() settles a job, and tells the listeners.
 *
 * @internal
 */
final class ChunkSettling
{
    /** Errors of Redis that pass. */
    private const PASSING = ['LOADING', 'BUSY', 'MASTERDOWN', 'TRYAGAIN', 'CLUSTERDOWN', 'READONLY', 'NOREPLICAS', 'MISCONF', 'OOM'];

    private const RETRY_AFTER_US = 100_000;

    /** @var array<string, true> groups that were closed for RateLimited; '': the queue */
    private array $limited = [];

    /**
     * @param QueueInterface $queue of the loop, which may serve several
     * @param QueueInterface $own the queue of the jobs
     * @param float $ran seconds that the handler ran
     */
    public function __construct(
        private readonly QueueInterface $queue,
        private readonly QueueInterface $own,
        private readonly Listeners $listeners,
        private readonly float $ran,
    ) {
    }

    /**
     * @param list<JobInterface> $jobs
     *
     * @throws ServerException when Redis refuses, and will refuse again; then the jobs come back when their leases end
     */
    public function settle(array $jobs, ChunkAnswers $answers): void
    {
        $done = $errors = [];
        foreach ($jobs as $job) {
            if ($job->isLost()) {
                $this->tell(Event::LeaseLost, $job);
                continue;
            }
            $error = $answers->isDone($job) ? $this->follow($job, $answers->of($job)) : $answers->of($job);
            if (!$job->isSettled()) {
                $error === null ? $done[] = $job : $errors[] = [$job, $error ?: null];
            }
        }
        $done === [] || $this->acknowledge($done);
        foreach ($errors as [$job, $error]) {
            $this->giveBack($job, $error);
        }
    }

    /**
     * Does what follows a job that is done, before it is acknowledged. Of a job that is settled already it looks how.
     *
     * @return Throwable|null not null: that could not be done, and this is how the job ends
     */
    private function follow(JobInterface $job, mixed $result = null): ?Throwable
    {
        try {
            (new Follow(static fn (): mixed => $result))($job, $this->queue);
        } catch (Throwable $error) {
            return $error;
        }

        return null;
    }

    /** @param non-empty-list<JobInterface> $jobs */
    private function acknowledge(array $jobs): void
    {
        $isUnsure = false;
        $this->persist($jobs, fn () => $this->queue->ackMany(...$jobs), $isUnsure);
        foreach ($jobs as $job) {
            $this->tell($job->isSettled() || $isUnsure && $job->isLost() ? Event::Succeeded : Event::LeaseLost, $job);
        }
    }

    private function giveBack(JobInterface $job, ?Throwable $error): void
    {
        $isPutBack = $error instanceof RateLimited || self::isShutdown($error);
        // The limit comes first, or another worker could take the job in between.
        if ($error instanceof RateLimited) {
            $this->limit($job, $error);
        }
        $isOurs = $this->persist([$job], static fn () => match (true) {
            $isPutBack => $job->release(countAttempt: false),
            $error instanceof Release => $job->release($error->delay),
            $error instanceof Bury => $job->bury($error->getMessage()),
            $error instanceof TimeoutException => $job->fail($error->getMessage()),
            default => $job->fail($error ?? 'the handler returned false'),
        });
        if (!$isOurs) {
            $this->tell(Event::LeaseLost, $job);

            return;
        }
        $isBuried = $error instanceof Bury || !$isPutBack && $this->isBuried($job);
        if ($isPutBack || $error instanceof Release && !$isBuried) {
            $this->tell(Event::Released, $job, $error);
        } elseif (!$error instanceof Release && !$error instanceof Bury) {
            $error instanceof TimeoutException && $this->tell(Event::TimedOut, $job, $error);
            $this->tell(Event::Failed, $job, $error);
        }
        if ($isBuried) {
            $this->follow($job);
            $this->tell(Event::Buried, $job, $error);
        }
    }

    /** The exception, or one that the handler has made of it. */
    private static function isShutdown(?Throwable $error): bool
    {
        return $error !== null && ($error instanceof ShutdownException || self::isShutdown($error->getPrevious()));
    }

    /** Each group, or the queue, once. */
    private function limit(JobInterface $job, RateLimited $error): void
    {
        $group = $error->group ?? $job->group;
        if (!isset($this->limited[(string) $group])) {
            $this->limited[(string) $group] = true;
            $this->persist([$job], fn () => $this->own->rateLimit($error->delay, $group));
        }
    }

    /** A job may be buried before its last attempt, because the next one would come too late. */
    private function isBuried(JobInterface $job): bool
    {
        try {
            return $this->own->peek($job->id)?->state === State::Buried;
        } catch (Exception) {
            return $job->maxAttempts > 0 && $job->attempts >= $job->maxAttempts;
        }
    }

    /**
     * Repeats it while Redis is away and the leases last.
     *
     * @param non-empty-list<JobInterface> $jobs
     * @param bool $isUnsure set to true when an answer was lost, so that a try may have settled them
     *
     * @return bool whether it was done, as far as Redis says
     *
     * @throws ServerException
     */
    private function persist(array $jobs, Closure $work, bool &$isUnsure = false): bool
    {
        while (true) {
            try {
                $work();

                return true;
            } catch (LeaseLostException) {
                return $isUnsure;
            } catch (ConnectionException $error) {
                $isUnsure = $isUnsure || $error->ambiguous;
            } catch (ServerException $error) {
                in_array($error->redisCode, self::PASSING, true) || throw $error;
            }
            if (max(array_map(static fn (JobInterface $job): float => $job->timeLeft(), $jobs)) <= 0.0) {
                return false;
            }
            usleep(self::RETRY_AFTER_US);
        }
    }

    private function tell(Event $event, JobInterface $job, ?Throwable $error = null): void
    {
        $this->listeners->emit($event, $job, $error, $this->ran);
    }
}
