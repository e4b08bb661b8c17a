<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use Closure;
use DelayQueue\Bury;
use DelayQueue\Event;
use DelayQueue\Internal\Moment;
use DelayQueue\Job;
use DelayQueue\LeaseLostException;
use DelayQueue\RateLimited;
use DelayQueue\Release;
use DelayQueue\StopReason;
use Throwable;

/**
 * consume() and drain(): takes jobs one by one, calls the handler, and settles them by its end.
 *
 * @internal
 */
final class Loop
{
    /** @var list<Job> jobs whose handlers run, inner ones last */
    private static array $running = [];

    private int $jobs = 0;

    private float $idleSince = 0.0;

    /** An exception of an inner handler that is about the job of an outer one: the loop ends, and throws it. */
    private ?LeaseLostException $passing = null;

    public function __construct(
        private readonly InMemoryQueue $queue,
        private readonly Listeners $listeners,
        private readonly Closure $handler,
        private readonly Limits $limits,
    ) {
    }

    /** How many jobs it has handled. */
    public function handled(): int
    {
        return $this->jobs;
    }

    public function run(): StopReason
    {
        $this->listeners->emit(Event::WorkerStarting);
        $began = $this->idleSince = microtime(true);
        $isReady = false;
        while (($stop = $this->reasonToStop($began)) === null) {
            if (!$isReady) {
                $isReady = true;
                $this->listeners->emit(Event::WorkerReady);
                continue; // a listener may have stopped the loop
            }
            $job = $this->queue->reserve();
            if ($job !== null) {
                $this->handle($job);
                $this->idleSince = microtime(true);
            } elseif ($this->limits->stopWhenEmpty || !$this->rest()) {
                $stop = StopReason::Empty;
                break;
            }
        }
        $this->listeners->emit(Event::WorkerStopping);

        return $this->passing === null ? $stop : throw $this->passing;
    }

    private function reasonToStop(float $began): ?StopReason
    {
        $limits = $this->limits;

        return match (true) {
            $this->passing !== null => StopReason::Stopped,
            $this->queue->takeStop() => StopReason::Stopped,
            $limits->maxJobs > 0 && $this->jobs >= $limits->maxJobs => StopReason::MaxJobs,
            $limits->maxTime > 0 && microtime(true) - $began >= $limits->maxTime => StopReason::MaxTime,
            $limits->memoryLimit > 0 && memory_get_usage(true) >= $limits->memoryLimit => StopReason::MemoryLimit,
            default => null,
        };
    }

    /** Waits a little for the next job, and tells listeners that the loop is idle. False: none can come. */
    private function rest(): bool
    {
        $untilNextUs = $this->queue->untilNextUs();
        if ($untilNextUs === null) {
            return false;
        }
        usleep(min($untilNextUs, 20_000));
        if (microtime(true) - $this->idleSince >= $this->limits->idleTimeout) {
            $this->listeners->emit(Event::Idle);
            $this->idleSince = microtime(true);
        }

        return true;
    }

    private function handle(Job $job): void
    {
        ++$this->jobs;
        $this->listeners->emit(Event::Processing, $job);
        if ($this->limits->heartbeat) {
            $job->keepAlive();
        }
        $error = $result = null;
        $started = hrtime(true);
        self::$running[] = $job;
        try {
            $result = ($this->handler)($job, $this->queue);
        } catch (Throwable $error) {
            // It says how the job ends.
        } finally {
            array_pop(self::$running);
        }
        $ran = (hrtime(true) - $started) / 1e9;
        if ($job->isSettled()) {
            return;
        }
        try {
            $this->settle($job, $result, $error, $ran);
        } catch (LeaseLostException) {
            $this->listeners->emit(Event::LeaseLost, $job, ran: $ran);
        }
    }

    private function settle(Job $job, mixed $result, ?Throwable $error, float $ran): void
    {
        $isLost = static fn (Job $outer): bool => $outer->isLost();
        $isLostAround = static fn (): bool => array_filter(self::$running, $isLost) !== [];
        if ($error instanceof LeaseLostException && $isLostAround()) {
            $this->passing = $error;
            $job->release(Moment::of($job->dueAt), countAttempt: false);
            $this->listeners->emit(Event::Released, $job, $error, $ran);
        } elseif ($error instanceof RateLimited) {
            $this->queue->giveBack($error, $job);
            $this->queue->keepReason($job, $error->getMessage());
            $this->listeners->emit(Event::Released, $job, $error, $ran);
        } elseif ($error instanceof Release) {
            $job->release($error->delay);
            $this->queue->keepReason($job, $error->getMessage());
            $this->listeners->emit($this->queue->isBuried($job) ? Event::Buried : Event::Released, $job, $error, $ran);
        } elseif ($error instanceof Bury) {
            $job->bury($error->getMessage());
            $this->listeners->emit(Event::Buried, $job, $error, $ran);
        } elseif ($error !== null || $result === false) {
            $job->fail($error ?? 'the handler returned false');
            $this->listeners->emit(Event::Failed, $job, $error, $ran);
            if ($this->queue->isBuried($job)) {
                $this->listeners->emit(Event::Buried, $job, $error, $ran);
            }
        } else {
            $job->ack();
            $this->listeners->emit(Event::Succeeded, $job, ran: $ran);
        }
    }
}
