<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DateInterval;
use DateTimeInterface;
use DelayQueue\Exception;
use DelayQueue\JobInfo;
use DelayQueue\Laravel\Database\QueueOutbox;
use DelayQueue\Laravel\Delay;
use DelayQueue\Laravel\QueueName;
use DelayQueue\Stats;
use UnitEnum;

/** Jobs by their ids. Without a queue the default one is looked at first, then all others. */
trait FindsJobs
{
    /**
     * Removes jobs in any state. A unique lock is released, and a batch counts its job as done. A job that runs at this moment runs to
     * its end; its worker hears of it by Events\LeaseLost. With an outbox they are removed at the commit, those that wait there as well; where
     * the queue is named Redis may be away then.
     *
     * @param string|list<string> $ids
     *
     * @return int how many there were
     */
    public function cancel(string|array $ids, string|UnitEnum|null $queue = null): int
    {
        $cancelled = 0;
        foreach ((array) $ids as $id) {
            if (($outbox = $this->outbox()) !== null) {
                $cancelled += $this->cancelAtCommit($outbox, $id, $queue);
                continue;
            }
            $info = $this->find($id, $queue);
            if ($info !== null) {
                $cancelled += $this->cancelFound($this->native(QueueName::decode($info->queue)), $info);
            }
        }

        return $cancelled;
    }

    /** @return bool false when it is not there, or runs at this moment */
    public function reschedule(
        string $id,
        int|float|string|DateInterval|DateTimeInterface $delay,
        string|UnitEnum|null $queue = null,
    ): bool {
        foreach ($this->lookedAt($queue) as $name) {
            $native = $this->native($name);
            if ($native->reschedule($id, $delay instanceof DateTimeInterface ? Delay::of($delay, $native) : $delay)) {
                return true;
            }
        }

        return false;
    }

    /**
     * Puts another job in the place of one that waits; its id and its time stay.
     *
     * @return bool false when it is not there, or runs at this moment
     */
    public function replace(string $id, object $job, string|UnitEnum|null $queue = null): bool
    {
        foreach ($this->lookedAt($queue) as $name) {
            $native = $this->native($name);
            $old = $native->peek($id);
            $payload = $this->createPayload($job, $name, '');
            if ($old !== null && $native->update($id, $payload)) {
                $this->settleReplaced($native, $old, $payload);

                return true;
            }
        }

        return false;
    }

    public function find(string $id, string|UnitEnum|null $queue = null): ?JobInfo
    {
        foreach ($this->lookedAt($queue) as $name) {
            $info = $this->native($name)->peek($id);
            if ($info !== null) {
                return $info;
            }
        }

        return null;
    }

    public function stats(string|UnitEnum|null $queue = null): Stats
    {
        return $this->native($queue)->stats();
    }

    /** @return iterable<string> */
    private function lookedAt(string|UnitEnum|null $queue): iterable
    {
        yield $first = $this->getQueue($queue);
        if ($queue === null) {
            yield from $this->allQueues()->reject(static fn (string $name): bool => $name === $first);
        }
    }

    /** @return int 1: it was there */
    private function cancelAtCommit(QueueOutbox $outbox, string $id, string|UnitEnum|null $queue): int
    {
        // Rows first: they come from there to Redis.
        $queues = $queue === null ? $outbox->queuesOf($id) : [$this->getQueue($queue)];
        $info = null;
        try {
            $info = $this->find($id, $queue);
        } catch (Exception $away) {
            if ($queue === null) {
                throw $away;
            }
        }
        if ($info !== null) {
            $queues[] = QueueName::decode($info->queue);
        }
        $deleted = 0;
        foreach (array_unique($queues ?: [$this->getQueue(null)]) as $name) {
            // Of these jobs Redis never hears; a job in Redis is settled by whoever cancels it there after the commit.
            $payloads = $outbox->payloads($name, $id);
            $deleted += $outbox->cancel($name, $id);
            $settle = fn () => $this->settleRows($payloads, $id, $name);
            $payloads === [] || $outbox->whenCommitted($settle) || $settle();
        }

        return $info !== null || $deleted > 0 ? 1 : 0;
    }
}
