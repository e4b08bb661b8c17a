<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use Closure;
use DelayQueue;
use DelayQueue\ConnectionException;
use DelayQueue\DuplicateJobException;
use DelayQueue\Exception;
use DelayQueue\JobInfo;
use DelayQueue\Laravel\Database\QueueOutbox;
use DelayQueue\Laravel\Events\DuplicateKept;
use DelayQueue\Laravel\Held;
use DelayQueue\Laravel\NewJob;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use Illuminate\Contracts\Cache\LockProvider;
use Illuminate\Contracts\Cache\Repository as Cache;
use Throwable;

/** Where payloads go: to Redis, or to the outbox; and what becomes of one whose id is taken. */
trait StoresJobs
{
    /** Seconds for a push that replaces a job. */
    private const REPLACING = 10;

    /** @param bool $isRaw it may be a retry by Laravel, which has only a payload */
    private function store(string $payload, mixed $queue, mixed $delay, array $options = [], bool $isRaw = false, bool $mayBeRow = true): string
    {
        $isRetry = $isRaw && !isset($options['id']) && !isset($options['onDuplicate']);
        // Laravel forgets a failed job that could be pushed, so this is not to keep it out, and not to throw a newer one away.
        $new = NewJob::of($payload, $delay, $options + ($isRetry ? ['onDuplicate' => OnDuplicate::Fail] : []), $this->settings, $this->native($queue));
        $outbox = $mayBeRow && !($isRetry && $new->isIdentified) ? $this->outbox() : null;
        if ($outbox?->isInTransaction()) {
            return $this->storeRow($outbox, $new, $queue, $isRaw);
        }

        return $isRetry ? $this->storeNow($new, $queue, $outbox, isRetry: true) : $this->storeNew($new, $queue, $outbox);
    }

    /** A dispatch: where it fails, nothing stays behind of it. */
    private function storeNew(NewJob $new, mixed $queue, ?QueueOutbox $outbox): string
    {
        try {
            return $this->storeNow($new, $queue, $outbox);
        } catch (DuplicateJobException $exception) {
            throw $exception;
        } catch (Throwable $exception) {
            if (!$exception instanceof ConnectionException || !$exception->ambiguous) {
                $this->ends()->refused(self::decoded($new->payload()));
            }
            throw $exception;
        }
    }

    /** Pushes to Redis or, while that is away, to the outbox. */
    private function storeNow(NewJob $new, mixed $queue, ?QueueOutbox $outbox, bool $isRetry = false): string
    {
        try {
            return match (true) {
                $outbox !== null && !$new->takesItsId() && !$outbox->isInTransaction() => $outbox->pushNow($this->getQueue($queue), $new->forOutbox()),
                $new->onDuplicate === OnDuplicate::Replace => $this->storeInPlace($new, $this->native($queue)),
                default => $this->native($queue)->push(...$new->parameters()),
            };
        } catch (DuplicateJobException $exception) {
            return $this->storeDuplicate($new, $queue, $exception, $isRetry);
        }
    }

    /** The job that has the id has ended then. */
    private function storeInPlace(NewJob $new, DelayQueue $native): string
    {
        $id = (string) $new->id();
        $push = function () use ($new, $native, $id): string {
            $old = $native->peek($id);
            $pushed = $native->push(...$new->parameters());
            if ($old !== null) {
                $this->settleReplaced($native, $old, $new->payload());
            }

            return $pushed;
        };

        // Two at a time would settle one job twice, and the other one never.
        return Held::mayBeIn(self::decoded($new->payload())) ? $this->alone("delayqueue:replace:{$native->name()}:$id", $push) : $push();
    }

    private function settleReplaced(DelayQueue $native, JobInfo $old, string $new): void
    {
        $isOther = self::uuid(self::decoded($old->body)) !== self::uuid(self::decoded($new));
        if ($isOther && self::holds($old) && self::isLeft($native, $old)) {
            $this->settleRemoved($old, 'was replaced', $new);
        }
    }

    /**
     * @template T
     *
     * @param Closure(): T $work
     *
     * @return T
     */
    private function alone(string $name, Closure $work): mixed
    {
        $store = $this->container->make(Cache::class)->getStore();

        return $store instanceof LockProvider ? $store->lock($name, self::REPLACING)->block(self::REPLACING, $work) : $work();
    }

    /**
     * @param list<array{payload: string, delay: mixed}> $jobs
     * @param DuplicateJobException|null $refused the first one of those whose ids are taken
     *
     * @return array<int, string> the ids by position
     */
    private function storeMany(array $jobs, mixed $queue, ?DuplicateJobException &$refused): array
    {
        $native = $this->native($queue);
        $new = array_map(fn (array $job): NewJob => NewJob::of($job['payload'], $job['delay'], [], $this->settings, $native), $jobs);
        $outbox = $this->outbox();
        if ($outbox !== null) {
            return $this->storeRows($outbox, $new, $queue);
        }
        $ids = [];
        try {
            if (in_array(OnDuplicate::Replace, array_column($new, 'onDuplicate'), true)) {
                return $this->storeEach($new, $queue, $ids, $refused);
            }

            return $native->pushMany(array_map(static fn (NewJob $job): array => $job->parameters(), $new));
        } catch (DuplicateJobException $exception) {
            return $this->storeEach($new, $queue, $ids = $exception->stored, $refused);
        } catch (Throwable $exception) {
            $this->withdraw($new, $native);
            throw $exception;
        }
    }

    /**
     * @param list<NewJob> $jobs
     * @param list<string> $ids of those that are stored
     *
     * @return array<int, string> the ids by position
     */
    private function storeEach(array $jobs, mixed $queue, array $ids, ?DuplicateJobException &$refused): array
    {
        foreach (array_slice($jobs, count($ids), preserve_keys: true) as $position => $job) {
            try {
                $ids[$position] = $this->storeNew($job, $queue, null);
            } catch (DuplicateJobException $exception) {
                $refused ??= $exception;
            } catch (Throwable $exception) {
                $this->withdraw($jobs, $this->native($queue));
                throw $exception;
            }
        }

        return $ids;
    }

    /**
     * Members of a batch that could not be pushed as a whole: Laravel deletes the batch, or does not count them.
     *
     * @param list<NewJob> $jobs
     */
    private function withdraw(array $jobs, DelayQueue $native): void
    {
        $ids = [];
        try {
            foreach ($jobs as $new) {
                if (Held::in(self::decoded($new->payload()))?->batch === null) {
                    continue;
                }
                $there = $new->isIdentified ? $native->peek((string) $new->id()) : null;
                if (!$new->isIdentified || ($there !== null && self::uuid(self::decoded($there->body)) === $new->uuid)) {
                    $ids[] = (string) $new->id();
                }
            }
            $ids === [] || $native->cancel(...$ids);
        } catch (Exception) {
            // Redis is away still.
        }
    }

    /** A retry of a job that lies buried takes its place. A uuid is no promise of the user: two jobs may have one, as with frozen uuids. */
    private function storeDuplicate(NewJob $new, mixed $queue, DuplicateJobException $exception, bool $isRetry): string
    {
        $native = $this->native($queue);
        $id = (string) $new->id();
        $there = $native->peek($id);
        if ($this->liesBuried($new, $there)) {
            return $native->push(...$new->replacing());
        }
        if (!$new->isIdentified) {
            return $native->push(...$new->underAnotherId());
        }
        if ($isRetry) {
            throw $exception;
        }
        $body = $new->payload();
        $payload = self::decoded($body);
        $survivor = self::decoded($there->body ?? '');
        if ($new->onDuplicate === OnDuplicate::Keep) {
            $this->tellOfKept($this->getQueue($queue), $id, $body);
            $this->ends()->keptOut($payload, $exception, $survivor);
        } elseif (!$this->ends()->failsInBatch($payload, $body, (string) $this->connectionName, $this->getQueue($queue), $exception)) {
            $this->ends()->refused($payload, $survivor);
            throw $exception;
        }

        return $id;
    }

    private function tellOfKept(string $queue, string $id, string $payload): void
    {
        if ($this->container->bound('events')) {
            $this->container['events']->dispatch(new DuplicateKept((string) $this->connectionName, $queue, $id, $payload));
        }
        if ($this->container->bound('log')) {
            $this->container['log']->notice("A job was not queued, because job '$id' is in the queue already, or its id is still taken", [
                'connection' => $this->connectionName,
                'queue' => $queue,
                'job' => $id,
            ]);
        }
    }

    /** The job itself lies buried, not another one that has its id. */
    private function liesBuried(NewJob $new, ?JobInfo $there): bool
    {
        return $new->uuid !== null && $there?->state === State::Buried && self::uuid(self::decoded($there->body)) === $new->uuid;
    }
}
