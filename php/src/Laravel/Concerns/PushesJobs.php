<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue;
use DelayQueue\DuplicateJobException;
use DelayQueue\Laravel\Events\DuplicateKept;
use DelayQueue\Laravel\NewJob;
use DelayQueue\Laravel\QueueName;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use Illuminate\Queue\Attributes\Delay as DelayAttribute;
use ReflectionMethod;
use UnitEnum;

/** Laravel's ways of adding jobs. */
trait PushesJobs
{
    /** @return string the id of the job, unless it is pushed after a commit */
    public function push($job, $data = '', $queue = null)
    {
        return $this->enqueueUsing(
            $job,
            $this->createPayload($job, $this->getQueue($queue), $data),
            $queue,
            null,
            fn (string $payload, mixed $queue): string => $this->store($payload, $queue, null, mayBeRow: !$this->isForNow($job)),
        );
    }

    /**
     * @param string $payload stored byte for byte
     * @param array{id?: string, onDuplicate?: string|OnDuplicate, priority?: int, ttr?: int|float, ...} $options as of a job that is Identified
     *
     * @return string the id of the job: its own, or the payload's uuid
     *
     * @throws DuplicateJobException when a job has the id that this one was to have by identifiedBy()
     */
    public function pushRaw($payload, $queue = null, array $options = [])
    {
        return $this->store($payload, $queue, null, $options, isRetry: true);
    }

    /** @return string the id of the job, unless it is pushed after a commit */
    public function later($delay, $job, $data = '', $queue = null)
    {
        return $this->enqueueUsing(
            $job,
            $this->createPayload($job, $this->getQueue($queue), $data, $delay),
            $queue,
            $delay,
            fn (string $payload, mixed $queue, mixed $delay): string => $this->store($payload, $queue, $delay, mayBeRow: !$this->isForNow($job)),
        );
    }

    /** Pushes jobs in few round trips. Those that wait for a commit go one by one, after it; so do those with beforeCommit(), at once. */
    public function bulk($jobs, $data = '', $queue = null)
    {
        $now = [];
        $hasTransactions = $this->container->bound('db.transactions');
        foreach ((array) $jobs as $job) {
            $delay = $this->delayOf($job);
            if ($this->isForNow($job) || ($hasTransactions && $this->shouldDispatchAfterCommit($job))) {
                $delay === null ? $this->push($job, $data, $queue) : $this->later($delay, $job, $data, $queue);
                continue;
            }
            $payload = $this->createPayload($job, $this->getQueue($queue), $data, $delay);
            $this->forgetAtRollback($job);
            $now[] = compact('queue', 'job', 'payload', 'delay');
        }
        foreach ($now as $facts) {
            $this->tell('raiseJobQueueingEvent', $facts);
        }
        foreach ($this->storeMany($now, $queue) as $position => $jobId) {
            $this->tell('raiseJobQueuedEvent', $now[$position] + compact('jobId'));
        }
    }

    /** {@inheritdoc} With the wishes of an Identified job, and its group, so that they are there still when it is retried. */
    protected function createPayloadArray($job, $queue, $data = '')
    {
        $payload = parent::createPayloadArray($job, $queue, $data);
        // Identified, which is dear to ask for with each push.
        $wishes = is_object($job) && method_exists($job, 'identifiedBy') ? $job->delayQueue ?? [] : [];
        $wishes += array_filter(['group' => $this->groupOf($job)], strlen(...));

        return $wishes === [] ? $payload : $payload + ['delayqueue' => $wishes];
    }

    /** @param bool $isRetry it may be the retry of a job that lies buried */
    private function store(string $payload, mixed $queue, mixed $delay, array $options = [], bool $isRetry = false, bool $mayBeRow = true): string
    {
        $new = NewJob::of($payload, $delay, $options, $this->settings, $this->native($queue));
        $outbox = $mayBeRow ? $this->outbox() : null;

        return $outbox?->isInTransaction() ? $this->storeRow($outbox, $new, $queue, $isRetry) : $this->storeNow($new, $queue);
    }

    /** Pushes to Redis or, while that is away, to the outbox. */
    private function storeNow(NewJob $new, mixed $queue): string
    {
        $outbox = $new->takesItsId() || $this->outbox()?->isInTransaction() ? null : $this->outbox();
        try {
            return $outbox === null
                ? $this->native($queue)->push(...$new->parameters())
                : $outbox->pushNow($this->getQueue($queue), $new->forOutbox());
        } catch (DuplicateJobException $exception) {
            return $this->storeDuplicate($new, $queue, $exception);
        }
    }

    /**
     * @param list<array{payload: string, delay: mixed}> $jobs
     *
     * @return list<string> the ids in order
     */
    private function storeMany(array $jobs, mixed $queue): array
    {
        $native = $this->native($queue);
        $new = array_map(fn (array $job): NewJob => NewJob::of($job['payload'], $job['delay'], [], $this->settings, $native), $jobs);
        $outbox = $this->outbox();
        if ($outbox !== null) {
            return $this->storeRows($outbox, $new, $queue);
        }
        try {
            return $native->pushMany(array_map(static fn (NewJob $job): array => $job->parameters(), $new));
        } catch (DuplicateJobException $exception) {
            $ids = $exception->stored;
            foreach (array_slice($jobs, count($ids)) as $job) {
                $ids[] = $this->store($job['payload'], $queue, $job['delay']);
            }

            return $ids;
        }
    }

    /** A retry of a job that lies buried takes its place. A uuid is no promise of the user: two jobs may have one, as with frozen uuids. */
    private function storeDuplicate(NewJob $new, mixed $queue, DuplicateJobException $exception): string
    {
        $native = $this->native($queue);
        $id = (string) $new->id();
        if ($this->liesBuried($new, $native)) {
            return $native->push(...$new->replacing());
        }
        if (!$new->isIdentified) {
            return $native->push(...$new->underAnotherId());
        }
        if ($new->onDuplicate !== OnDuplicate::Keep) {
            throw $exception;
        }
        if ($this->container->bound('events')) {
            $this->container['events']->dispatch(
                new DuplicateKept((string) $this->connectionName, $this->getQueue($queue), $id, $new->parameters()['payload']),
            );
        }
        if ($this->container->bound('log')) {
            $this->container['log']->notice("A job was not queued, because job '$id' is in the queue already, or its id is still taken", [
                'connection' => $this->connectionName,
                'queue' => $this->getQueue($queue),
                'job' => $id,
            ]);
        }

        return $id;
    }

    /** The job itself lies buried, not another one that has its id. */
    private function liesBuried(NewJob $new, DelayQueue $native): bool
    {
        $old = $new->uuid === null ? null : $native->peek((string) $new->id());

        return $old?->state === State::Buried && (json_decode($old->body, true)['uuid'] ?? null) === $new->uuid;
    }

    /** As Laravel's SQS driver has it; an empty one is none there, too. */
    private function groupOf(mixed $job): string
    {
        $group = is_object($job) ? $job->messageGroup ?? (method_exists($job, 'messageGroup') ? $job->messageGroup() : null) : null;

        return (string) ($group instanceof UnitEnum ? QueueName::of($group) : $group);
    }

    private function delayOf(mixed $job): mixed
    {
        if (!is_object($job)) {
            return null;
        }

        return method_exists($this, 'getAttributeValue') ? $this->getAttributeValue($job, DelayAttribute::class, 'delay') : $job->delay ?? null;
    }

    /**
     * Raises an event of the base class, whose parameters differ by version.
     *
     * @param array<string, mixed> $facts
     */
    private function tell(string $method, array $facts): void
    {
        if (method_exists($this, $method)) {
            $names = array_map(static fn (\ReflectionParameter $parameter): string => $parameter->name, (new ReflectionMethod($this, $method))->getParameters());
            $this->$method(...array_intersect_key($facts, array_flip($names)));
        }
    }
}
