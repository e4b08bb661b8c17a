<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue;
use DelayQueue\ConnectionException;
use DelayQueue\DuplicateJobException;
use DelayQueue\Exception;
use DelayQueue\JobInfo;
use DelayQueue\Laravel\Database\QueueOutbox;
use DelayQueue\Laravel\Events\DuplicateKept;
use DelayQueue\Laravel\Held;
use DelayQueue\Laravel\OutgoingJob;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use Throwable;

/** Where payloads go: to Redis, or to the outbox; and what becomes of one whose id is taken. */
trait StoresJobs
{
    /** @param bool $isRaw it may be a retry by Laravel, which has only a payload */
    private function store(
        string $payload,
        mixed $queue,
        mixed $delay,
        array $options = [],
        bool $isRaw = false,
        bool $mayBeRow = true,
    ): string {
        $isRetry = $isRaw && !isset($options['id']) && !isset($options['onDuplicate']);
        // Laravel forgets a failed job once it is pushed: it is neither to be kept out nor to throw a newer one away.
        $options += $isRetry ? ['onDuplicate' => OnDuplicate::Fail] : [];
        $new = OutgoingJob::of($payload, $delay, $options, $this->settings, $this->native($queue));
        $outbox = $mayBeRow && !($isRetry && $new->isIdentified) ? $this->outbox() : null;
        if ($outbox?->isInTransaction()) {
            return $this->storeRow($outbox, $new, $queue, $isRaw);
        }

        return $isRetry
            ? $this->storeNow($new, $queue, $outbox, isRetry: true)
            : $this->storeNew($new, $queue, $outbox);
    }

    /** A dispatch: where it fails, nothing stays behind of it. */
    private function storeNew(OutgoingJob $new, mixed $queue, ?QueueOutbox $outbox): string
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
    private function storeNow(OutgoingJob $new, mixed $queue, ?QueueOutbox $outbox, bool $isRetry = false): string
    {
        $outbox = $new->takesItsId() || $outbox?->isInTransaction() ? null : $outbox;
        try {
            return match (true) {
                $outbox !== null => $outbox->pushNow($this->getQueue($queue), $new->forOutbox()),
                $new->onDuplicate === OnDuplicate::Replace => $this->storeInPlace($new, $this->native($queue)),
                default => $this->native($queue)->push(...$new->parameters()),
            };
        } catch (DuplicateJobException $exception) {
            return $this->storeDuplicate($new, $queue, $exception, $isRetry);
        }
    }

    /** The job that has the id has ended then. */
    private function storeInPlace(OutgoingJob $new, DelayQueue $native): string
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
        return Held::mayBeIn(self::decoded($new->payload()))
            ? $this->alone("delayqueue:replace:{$native->name()}:$id", $push)
            : $push();
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
        $make = fn (array $job): OutgoingJob => OutgoingJob::of($job['payload'], $job['delay'], [], $this->settings, $native);
        $new = array_map($make, $jobs);
        $outbox = $this->outbox();
        if ($outbox !== null) {
            return $this->storeRows($outbox, $new, $queue);
        }
        $ids = [];
        try {
            if (in_array(OnDuplicate::Replace, array_column($new, 'onDuplicate'), true)) {
                return $this->storeEach($new, $queue, $ids, $refused);
            }

            return $native->pushMany(array_map(static fn (OutgoingJob $job): array => $job->parameters(), $new));
        } catch (DuplicateJobException $exception) {
            return $this->storeEach($new, $queue, $ids = $exception->stored, $refused);
        } catch (Throwable $exception) {
            $this->withdraw($new, $native);
            throw $exception;
        }
    }

    /**
     * @param list<OutgoingJob> $jobs
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
     * @param list<OutgoingJob> $jobs
     */
    private function withdraw(array $jobs, DelayQueue $native): void
    {
        $ids = [];
        try {
            foreach ($jobs as $new) {
                if (Held::in(self::decoded($new->payload()))?->batch === null) {
                    continue;
                }
                // Another job may have an id of the user's own.
                $there = $new->isIdentified ? $native->peek((string) $new->id()) : null;
                if (!$new->isIdentified || self::uuid(self::decoded($there->body ?? '')) === $new->uuid) {
                    $ids[] = (string) $new->id();
                }
            }
            $ids === [] || $native->cancel(...$ids);
        } catch (Exception) {
            // Redis is away still.
        }
    }

    /**
     * A retry of a job that lies buried takes its place. A uuid is no promise of the user: two jobs may have one, as
     * with frozen uuids.
     */
    private function storeDuplicate(OutgoingJob $new, mixed $queue, DuplicateJobException $exception, bool $isRetry): string
    {
        $native = $this->native($queue);
        [$connection, $name] = [(string) $this->connectionName, $this->getQueue($queue)];
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
            $this->tellOfKept($name, $id, $body);
            $this->ends()->keptOut($payload, $exception, $survivor);
        } elseif (!$this->ends()->failsInBatch($payload, $body, $connection, $name, $exception)) {
            $this->ends()->refused($payload, $survivor);
            throw $exception;
        }

        return $id;
    }

    private function tellOfKept(string $queue, string $id, string $payload): void
    {
        $connection = (string) $this->connectionName;
        if ($this->container->bound('events')) {
            $this->container['events']->dispatch(new DuplicateKept($connection, $queue, $id, $payload));
        }
        if ($this->container->bound('log')) {
            $why = "job '$id' is in the queue already, or its id is still taken";
            $this->container['log']->notice("A job was not queued, because $why", [
                'connection' => $connection,
                'queue' => $queue,
                'job' => $id,
            ]);
        }
    }

    /** The job itself lies buried, not another one that has its id. */
    private function liesBuried(OutgoingJob $new, ?JobInfo $there): bool
    {
        return $new->uuid !== null
            && $there?->state === State::Buried
            && self::uuid(self::decoded($there->body)) === $new->uuid;
    }
}
