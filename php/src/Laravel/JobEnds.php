<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Closure;
use Illuminate\Bus\Batch;
use Illuminate\Bus\BatchRepository;
use Illuminate\Bus\DebounceLock;
use Illuminate\Contracts\Cache\Repository as Cache;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Queue\ShouldBeUniqueUntilProcessing;
use Illuminate\Database\Eloquent\ModelNotFoundException;
use Illuminate\Queue\CallQueuedHandler;
use ReflectionClass;
use Throwable;

/**
 * The one place for the ends of jobs that Laravel's handler does not see: it does what the handler would have done.
 */
class JobEnds extends CallQueuedHandler
{
    /**
     * A job is gone before its handler ran, and is no failure: it was cancelled or replaced, or has expired. Its lock
     * is released, its batch counts it and the links behind it as done, and the catch() of its chain is called, because
     * the chain does not go on. What fails here is reported.
     *
     * @param array<array-key, mixed> $payload
     * @param Throwable $why for catch()
     * @param array<array-key, mixed> $survivor the payload of the job that has its id now: a lock of both stays
     * @param bool $wasStarted it has run before, and waited for another try
     */
    public function removed(array $payload, Throwable $why, array $survivor = [], bool $wasStarted = false): void
    {
        $this->reported(function () use ($payload, $why, $survivor, $wasStarted): void {
            $held = $this->held($payload);
            if ($held === null) {
                return;
            }
            $this->release($held, $payload, $survivor, $wasStarted);
            $this->reported(fn () => $this->countAsDone($held, $payload, 1 + $held->links));
            if ($held->catches) {
                $this->getCommand($payload['data'])->invokeChainCatchCallbacks($why);
            }
        });
    }

    /**
     * A job was not queued, because its id was taken and the other job was to be kept.
     *
     * @param array<array-key, mixed> $payload
     * @param array<array-key, mixed> $survivor
     */
    public function keptOut(array $payload, Throwable $why, array $survivor = []): void
    {
        $this->reported(fn () => $this->undebounce($payload));
        $this->removed($payload, $why, $survivor);
    }

    /**
     * A dispatch has thrown: nobody else will release what it has taken.
     *
     * @param array<array-key, mixed> $payload
     * @param array<array-key, mixed> $survivor
     */
    public function refused(array $payload, array $survivor = []): void
    {
        $this->reported(function () use ($payload, $survivor): void {
            $held = $this->held($payload);
            if ($held !== null) {
                $this->release($held, $payload, $survivor);
            }
            $this->undebounce($payload);
        });
    }

    /**
     * A member of a batch was not queued. The others are, so it has failed, and nothing is thrown at whoever dispatches
     * the batch.
     *
     * @param array<array-key, mixed> $payload
     *
     * @return bool false: it is in no batch
     */
    public function failsInBatch(array $payload, string $body, string $connection, string $queue, Throwable $why): bool
    {
        if ($this->batchOf($this->held($payload)) === null) {
            return false;
        }
        if ($this->container->bound('queue.failer')) {
            $this->reported(fn () => $this->container->make('queue.failer')->log($connection, $queue, $body, $why));
        }
        $this->reported(function () use ($payload, $why): void {
            $command = $this->getCommand($payload['data']);
            $this->ensureFailedBatchJobIsRecorded((string) ($payload['uuid'] ?? ''), $command, $why);
            $this->ensureChainCatchCallbacksAreInvoked((string) ($payload['uuid'] ?? ''), $command, $why);
            if (method_exists($command, 'failed')) {
                $command->failed($why);
            }
        });

        return true;
    }

    /** A row of the outbox that is rolled back takes its job with it. */
    public function releaseLock(object $command): void
    {
        $this->ensureUniqueJobLockIsReleased($command);
    }

    /** @param array<array-key, mixed> $payload */
    private function held(array $payload): ?Held
    {
        return Held::in($payload) ?? (Held::mayBeIn($payload) ? Held::by($this->getCommand($payload['data'])) : null);
    }

    /**
     * @param array<array-key, mixed> $payload
     * @param array<array-key, mixed> $survivor
     */
    protected function release(Held $held, array $payload, array $survivor = [], bool $wasStarted = false): void
    {
        $class = (string) ($payload['data']['commandName'] ?? '');
        if ($held->lock === null) {
            return;
        }
        // A survivor without a lock of its own keeps this one, and its end releases it.
        $heir = $this->held($survivor);
        if ($heir !== null && $heir->lock === $held->lock && ($heir->owner === null || $held->owner === null)) {
            return;
        }
        if ($held->owner !== null) {
            $this->cacheOf($class, $payload)->restoreLock($held->lock, $held->owner)->release();
        } elseif (!$wasStarted || !is_a($class, ShouldBeUniqueUntilProcessing::class, true)) {
            // The lock does not say whose it is.
            $this->cacheOf($class, $payload)->lock($held->lock)->forceRelease();
        }
    }

    /**
     * Or the job before it would give way to one that is not there.
     *
     * @param array<array-key, mixed> $payload
     */
    private function undebounce(array $payload): void
    {
        $owner = Held::in($payload)?->debounce;
        if ($owner !== null && class_exists(DebounceLock::class)) {
            $lock = new DebounceLock($this->container->make(Cache::class));
            $lock->release($this->getCommand($payload['data']), $owner);
        }
    }

    /** @param array<array-key, mixed> $payload */
    private function cacheOf(string $class, array $payload): Cache
    {
        $cache = null;
        if (method_exists($class, 'uniqueVia')) {
            try {
                $cache = $this->getCommand($payload['data'])->uniqueVia();
            } catch (ModelNotFoundException) {
                $cache = (new ReflectionClass($class))->newInstanceWithoutConstructor()->uniqueVia();
            }
        }

        return $cache ?? $this->container->make(Cache::class);
    }

    /** @param array<array-key, mixed> $payload */
    protected function countAsDone(Held $held, array $payload, int $jobs): void
    {
        $batch = $this->batchOf($held);
        for (; $batch !== null && $jobs > 0; --$jobs) {
            $batch->recordSuccessfulJob((string) ($payload['uuid'] ?? ''));
        }
    }

    protected function batchOf(?Held $held): ?Batch
    {
        return $held?->batch === null ? null : $this->container->make(BatchRepository::class)->find($held->batch);
    }

    /** The job is gone already, so what fails now undoes nothing. */
    public function reported(Closure $work): void
    {
        try {
            $work();
        } catch (Throwable $exception) {
            if (!$this->container->bound(ExceptionHandler::class)) {
                throw $exception;
            }
            $this->container->make(ExceptionHandler::class)->report($exception);
        }
    }
}
