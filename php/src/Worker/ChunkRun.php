<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use Closure;
use DelayQueue\ConnectionException;
use DelayQueue\Event;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\ServerException;
use DelayQueue\ShutdownException;
use DelayQueue\StopReason;
use DelayQueue\TimeoutException;
use Throwable;

/**
 * One loop of a Chunk. It is the handler of consume(), which takes the first job of each chunk and obeys signals, orders and limits.
 *
 * @internal
 */
final class ChunkRun
{
    private int $handled = 0;

    /** @var array<string, QueueInterface> that serve one queue each, by its name */
    private array $queues = [];

    /** Redis refuses to settle a job, and will refuse again. */
    private ?ServerException $failure = null;

    /**
     * @param Closure(list<JobInterface>, QueueInterface): mixed $handler
     * @param float $within seconds
     * @param float $timeout seconds of jobs without a limit of their own; 0.0: none
     * @param int $maxJobs 0: no limit
     */
    public function __construct(
        private readonly Closure $handler,
        private readonly Listeners $listeners,
        private readonly int $size,
        private readonly float $within,
        private readonly float $timeout,
        private readonly int $maxJobs,
        private readonly bool $heartbeat,
    ) {
    }

    /** @return mixed for consume(), which settles the first job if that is not settled */
    public function handle(JobInterface $first, QueueInterface $queue): mixed
    {
        $jobs = [$first];
        $began = null;
        $own = $this->queues[$first->queue] ??= $queue->sibling($first->queue);
        try {
            $this->fill($jobs, $own);
            array_map(fn (JobInterface $job) => $this->listeners->emit(Event::Processing, $job), $jobs);
            $began = hrtime(true);
            $answers = new ChunkAnswers($jobs, ($this->handler)($jobs, $queue));
        } catch (Throwable $error) {
            $answers = new ChunkAnswers($jobs, $error);
        }
        $ran = $began === null ? 0.0 : (hrtime(true) - $began) / 1e9;
        $this->handled += count($jobs);
        $this->settle(new ChunkSettling($queue, $own, $this->listeners, $ran), $jobs, $answers);
        if ($this->failure !== null || $this->isOver()) {
            $queue->stop();
        }
        if ($first->isSettled() || $first->isLost() || $answers->isDone($first)) {
            return null;
        }
        $answer = $answers->of($first);

        return $answer instanceof Throwable ? throw $answer : $answer;
    }

    /** @throws ServerException */
    public function ended(StopReason $reason): StopReason
    {
        if ($this->failure !== null) {
            throw $this->failure;
        }

        return $reason === StopReason::Stopped && $this->isOver() ? StopReason::MaxJobs : $reason;
    }

    /** @param non-empty-list<JobInterface> $jobs */
    private function settle(ChunkSettling $settling, array $jobs, ChunkAnswers $answers): void
    {
        try {
            $settling->settle($jobs, $answers);
        } catch (ServerException $error) {
            $this->failure = $error;
        } catch (TimeoutException | ShutdownException) {
            // The handler was in time, and each of them comes once.
            $this->settle($settling, $jobs, $answers);
        }
    }

    private function isOver(): bool
    {
        return $this->maxJobs > 0 && $this->handled >= $this->maxJobs;
    }

    /**
     * Takes more jobs until the chunk is full, or no more come in time.
     *
     * @param non-empty-list<JobInterface> $jobs the first one, to which the others are added
     */
    private function fill(array &$jobs, QueueInterface $queue): void
    {
        $most = $this->maxJobs > 0 ? min($this->size, $this->maxJobs - $this->handled) : $this->size;
        $began = hrtime(true) / 1e9;
        try {
            $isOpen = $most > 1 && !$this->isAlone($jobs[0], $queue);
            $until = $began + ($isOpen ? $this->within($jobs[0], $queue) : 0.0);
            while ($isOpen && count($jobs) < $most) {
                $more = $queue->reserveMany($most - count($jobs), max(0.0, $until - hrtime(true) / 1e9));
                // Redis gives such a job by itself.
                if (count($more) === 1 && $this->isAlone($more[0], $queue)) {
                    $more[0]->release(countAttempt: false);
                    break;
                }
                $this->heartbeat && array_map(static fn (JobInterface $job) => $job->keepAlive(), $more);
                $isOpen = $more !== [];
                array_push($jobs, ...$more);
            }
        } catch (ConnectionException | ServerException | LeaseLostException) {
            // The loop will say that Redis is away. What is here can be handled.
        }
    }

    /** How long the chunk may wait for others: the handler has at least half of the time limit. */
    private function within(JobInterface $first, QueueInterface $queue): float
    {
        if ($this->within === 0.0) {
            return 0.0;
        }
        $limit = $queue->peek($first->id)?->timeout ?: $this->timeout;

        return $limit > 0.0 ? min($this->within, $limit / 2) : $this->within;
    }

    /** A job that may have killed its worker, or would be buried if the chunk failed, as reserveMany() sees it. */
    private function isAlone(JobInterface $job, QueueInterface $queue): bool
    {
        $isLastAttempt = $job->maxAttempts > 0 && $job->attempts >= $job->maxAttempts;
        // An expired lease leaves an error, also where it counts no attempt.
        $mayHaveExpired = $job->attempts > 1 || $job->lastError !== null;

        return $isLastAttempt || $mayHaveExpired && $queue->peek($job->id)?->timeouts > 0;
    }
}
