<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue\Exception;
use DelayQueue\Laravel\CancelledJob;
use DelayQueue\Laravel\Database\AtRollback;
use DelayQueue\Laravel\Database\QueueOutbox;
use DelayQueue\Laravel\NewJob;
use Illuminate\Contracts\Queue\ShouldBeUnique;

/** Jobs of a connection with an outbox: rows while a transaction is open, or while Redis is away. */
trait UsesOutbox
{
    private ?QueueOutbox $outbox = null;

    /** Null: this connection has none. */
    public function outbox(): ?QueueOutbox
    {
        $name = $this->settings->outbox;

        return $name === false ? null : $this->outbox ??= new QueueOutbox($this->container, $this->natives, $name === true ? null : $name);
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
        $release = fn () => $this->container->make(CancelledJob::class)->releaseLock($job);
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
    private function storeRow(QueueOutbox $outbox, NewJob $new, mixed $queue, bool $isRetry = false): string
    {
        if (!$new->takesItsId()) {
            return $outbox->push($this->getQueue($queue), $new->forRow(replaces: $isRetry && $this->mayLieBuried($new, $queue)));
        }
        // Whether its id is taken is known only when it comes to Redis.
        $push = fn (): string => $this->storeNow($new, $queue);
        $outbox->whenCommitted($push) || $push();

        return (string) $new->id();
    }

    /**
     * @param list<NewJob> $jobs
     *
     * @return list<string> their ids in order
     */
    private function storeRows(QueueOutbox $outbox, array $jobs, mixed $queue): array
    {
        $ids = $rows = [];
        foreach ($jobs as $position => $new) {
            if ($new->takesItsId()) {
                $ids[$position] = $outbox->isInTransaction() ? $this->storeRow($outbox, $new, $queue) : $this->storeNow($new, $queue);
            } else {
                $rows[$position] = $new->forRow();
            }
        }
        $ids += array_combine(array_keys($rows), $outbox->pushMany($this->getQueue($queue), array_values($rows)));
        ksort($ids);

        return $ids;
    }

    private function mayLieBuried(NewJob $new, mixed $queue): bool
    {
        try {
            return $this->liesBuried($new, $this->native($queue));
        } catch (Exception) {
            return false;
        }
    }
}
