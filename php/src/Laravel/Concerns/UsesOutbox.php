<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue\DuplicateJobException;
use DelayQueue\Exception;
use DelayQueue\JobInfo;
use DelayQueue\Laravel\Database\AtRollback;
use DelayQueue\Laravel\Database\QueueOutbox;
use DelayQueue\Laravel\Database\RowQueues;
use DelayQueue\Laravel\Held;
use DelayQueue\Laravel\JobEnds;
use DelayQueue\Laravel\OutgoingJob;
use DelayQueue\Laravel\QueueName;
use Illuminate\Contracts\Queue\ShouldBeUnique;

/** Jobs of a connection with an outbox: rows while a transaction is open, or while Redis is away. */
trait UsesOutbox
{
    private ?QueueOutbox $outbox = null;

    /** Null: this connection has none. */
    public function outbox(): ?QueueOutbox
    {
        $name = $this->settings->outbox;
        if ($name === false) {
            return null;
        }

        return $this->outbox ??= new QueueOutbox($this->container, $this->rowQueues(), $name === true ? null : $name);
    }

    /** {@inheritdoc} A row comes after the commit by itself, and a crash between the two loses nothing. */
    protected function shouldDispatchAfterCommit($job)
    {
        return parent::shouldDispatchAfterCommit($job) && !$this->outbox()?->holdsAllTransactions();
    }

    protected function enqueueUsing($job, $payload, $queue, $delay, $callback)
    {
        $this->forgetAtRollback($job);

        return parent::enqueueUsing($job, $payload, $queue, $delay, $callback);
    }

    /** Laravel's beforeCommit(): it does not wait for the transaction, and runs also when that is rolled back. */
    private function isForNow(mixed $job): bool
    {
        return is_object($job) && ($job->afterCommit ?? null) === false && $this->outbox()?->isInTransaction();
    }

    /** A row that is rolled back never runs, so it cannot release its locks. Laravel does that for jobs that it keeps in memory until the commit. */
    private function forgetAtRollback(mixed $job): void
    {
        $outbox = is_object($job) ? $this->outbox() : null;
        if (!$outbox?->isInTransaction() || !$this->container->bound('db.transactions') || $this->isForNow($job) || $this->shouldDispatchAfterCommit($job)) {
            return;
        }
        $release = fn () => $this->container->make(JobEnds::class)->releaseLock($job);
        if (method_exists($this, 'registerRollbackCallbacksForJobsThatDispatchAfterCommit')) {
            $this->registerRollbackCallbacksForJobsThatDispatchAfterCommit($job);
        } elseif (method_exists($transactions = $this->container->make('db.transactions'), 'addCallbackForRollback')) {
            $transactions->addCallbackForRollback($release);
        } elseif ($job instanceof ShouldBeUnique) {
            $dropped = new AtRollback($release);
            $outbox->whenCommitted($dropped->committed(...)) || $dropped->committed();
        }
    }

    /** @return string its id */
    private function storeRow(QueueOutbox $outbox, OutgoingJob $new, mixed $queue, bool $isRetry = false): string
    {
        if (!$new->takesItsId()) {
            return $outbox->push($this->getQueue($queue), $new->forRow(replaces: $isRetry && $this->mayLieBuried($new, $queue)));
        }
        // Whether its id is taken is known only when it comes to Redis.
        $push = fn (): string => $this->storeNew($new, $queue, null);
        $outbox->whenCommitted($push) || $push();

        return (string) $new->id();
    }

    /**
     * @param list<OutgoingJob> $jobs
     *
     * @return list<string> their ids in order
     */
    private function storeRows(QueueOutbox $outbox, array $jobs, mixed $queue): array
    {
        $ids = $rows = [];
        foreach ($jobs as $position => $new) {
            if ($new->takesItsId()) {
                $ids[$position] = $outbox->isInTransaction()
                    ? $this->storeRow($outbox, $new, $queue)
                    : $this->storeNew($new, $queue, null);
            } else {
                $rows[$position] = $new->forRow();
            }
        }
        $ids += array_combine(array_keys($rows), $outbox->pushMany($this->getQueue($queue), array_values($rows)));
        ksort($ids);

        return $ids;
    }

    private function rowQueues(): RowQueues
    {
        return new RowQueues(
            $this->natives->named(...),
            static function (string $body): bool {
                $payload = self::decoded($body);

                // A uuid is taken by nobody else.
                return isset($payload['delayqueue']['id']) && Held::mayBeIn($payload);
            },
            fn (string $queue, string $id, string $body) => $this->ends()->reported(
                fn () => $this->settleKeptRow($queue, $id, $body),
            ),
            fn (JobInfo $job, string $payload) => $this->ends()->reported(
                fn () => $this->settleReplaced($this->native(QueueName::decode($job->queue)), $job, $payload),
            ),
            $this->cancelFound(...),
        );
    }

    private function settleKeptRow(string $queue, string $id, string $body): void
    {
        $payload = self::decoded($body);
        $there = $this->native($queue)->peek($id);
        // A row that comes again after a crash meets its own job.
        if ($there === null || self::uuid(self::decoded($there->body)) !== self::uuid($payload)) {
            $this->tellOfKept($queue, $id, $body);
            $why = new DuplicateJobException("job '$id' is already in queue '$queue', or its id is still taken");
            $this->ends()->keptOut($payload, $why, self::decoded($there->body ?? ''));
        }
    }

    private function mayLieBuried(OutgoingJob $new, mixed $queue): bool
    {
        try {
            return $this->liesBuried($new, $this->native($queue)->peek((string) $new->id()));
        } catch (Exception) {
            return false;
        }
    }
}
