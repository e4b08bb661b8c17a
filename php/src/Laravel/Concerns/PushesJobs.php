<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue\DuplicateJobException;
use DelayQueue\Laravel\Held;
use DelayQueue\Laravel\QueueName;
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
        return $this->store($payload, $queue, null, $options, isRaw: true);
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

    /**
     * Pushes jobs in few round trips. Those that wait for a commit go one by one, after it; so do those with
     * beforeCommit(), at once. A job whose id is taken holds up no other.
     *
     * @throws DuplicateJobException when all the others are queued; a member of a batch has failed in it instead
     */
    public function bulk($jobs, $data = '', $queue = null)
    {
        $now = [];
        $refused = null;
        $hasTransactions = $this->container->bound('db.transactions');
        foreach ((array) $jobs as $job) {
            $delay = $this->delayOf($job);
            if ($this->isForNow($job) || ($hasTransactions && $this->shouldDispatchAfterCommit($job))) {
                try {
                    $delay === null ? $this->push($job, $data, $queue) : $this->later($delay, $job, $data, $queue);
                } catch (DuplicateJobException $exception) {
                    $refused ??= $exception;
                }
                continue;
            }
            $payload = $this->createPayload($job, $this->getQueue($queue), $data, $delay);
            $this->forgetAtRollback($job);
            $now[] = compact('queue', 'job', 'payload', 'delay');
        }
        foreach ($now as $facts) {
            $this->tell('raiseJobQueueingEvent', $facts);
        }
        foreach ($this->storeMany($now, $queue, $refused) as $position => $jobId) {
            $this->tell('raiseJobQueuedEvent', $now[$position] + compact('jobId'));
        }
        if ($refused !== null) {
            throw $refused;
        }
    }

    /**
     * {@inheritdoc} With the wishes of an Identified job, its group, and what it holds, so that they are there still
     * when it is retried, or never runs.
     */
    protected function createPayloadArray($job, $queue, $data = '')
    {
        $payload = parent::createPayloadArray($job, $queue, $data);
        // Identified, which is dear to ask for with each push.
        $wishes = is_object($job) && method_exists($job, 'identifiedBy') ? $job->delayQueue ?? [] : [];
        $wishes += array_filter(['group' => $this->groupOf($job)], strlen(...));
        $wishes += is_object($job) ? Held::by($job)->member() : [];

        return $wishes === [] ? $payload : $payload + ['delayqueue' => $wishes];
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
