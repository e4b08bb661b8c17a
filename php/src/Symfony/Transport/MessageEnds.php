<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use Closure;
use DelayQueue\Exception as DelayQueueException;
use DelayQueue\Internal\OwnHeaders;
use DelayQueue\Job;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use Psr\Log\LoggerInterface;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DeduplicateStamp;
use Throwable;

/**
 * The one place for the ends of messages that Messenger's handling does not see: it releases the lock of a
 * DeduplicateStamp (Messenger 7.3), which keeps further messages of its key away. A lock has an owner, so that one
 * which a newer message has taken since stays.
 *
 * @internal
 */
final class MessageEnds
{
    /** @param LockFactory|null $locks that of Messenger's middleware; null: nothing is locked */
    public function __construct(
        private readonly Codec $codec,
        private readonly ?LockFactory $locks = null,
        private readonly ?LoggerInterface $logger = null,
    ) {
    }

    /** Whether messages may have locks. */
    public function isUsed(): bool
    {
        return $this->locks !== null && class_exists(DeduplicateStamp::class);
    }

    /**
     * The lock of a message.
     *
     * @param Envelope|string $message or its bytes
     *
     * @return Key|null null: it has none, or cannot be decoded
     */
    public function lockOf(Envelope|string $message): ?Key
    {
        if (!$this->isUsed()) {
            return null;
        }
        try {
            $envelope = is_string($message) ? $this->codec->envelope($message) : $message;

            return $envelope->last(DeduplicateStamp::class)?->getKey();
        } catch (Throwable) {
            return null; // the message is of another version of the application
        }
    }

    /** @param Envelope|string $message one that no handler gets any more, or its bytes */
    public function ended(Envelope|string $message): void
    {
        $this->release($this->lockOf($message));
    }

    /** The message has ended in any case, so what fails here is logged alone. */
    public function release(?Key $lock): void
    {
        try {
            if ($lock !== null) {
                $this->locks?->createLockFromKey($lock)->release();
            }
        } catch (Throwable $error) {
            $this->warn('The deduplication lock "{lock}" of an ended message could not be released.', $lock, $error);
        }
    }

    /**
     * Cancels jobs that were found.
     *
     * @return int how many there were still
     */
    public function cancel(QueueInterface $queue, JobInfo ...$jobs): int
    {
        $cancelled = 0;
        foreach ($jobs as $job) {
            $count = $queue->cancel($job->id);
            $cancelled += $count;
            if ($count > 0) {
                $this->left($queue, $job);
            }
        }

        return $cancelled;
    }

    /** A row of an outbox has become no job. One that comes again after a crash may have met its own. */
    public function kept(QueueInterface $queue, string $id, string $payload): void
    {
        $lock = $this->lockOf($payload);
        $this->releaseIf($lock, function () use ($queue, $id, $lock): bool {
            $there = $queue->peek($id);

            return $there === null || $this->lockOf($there->body) != $lock;
        });
    }

    /**
     * A job that was found is gone. One that a live worker has runs on, and ends there; a copy that an operator has
     * made has no lock.
     */
    public function left(QueueInterface $queue, JobInfo $job): void
    {
        $lock = isset($job->headers[OwnHeaders::COPY]) ? null : $this->lockOf($job->body);
        $isDead = static fn (): bool => $job->leaseUntil !== null && $job->leaseUntil <= $queue->now();
        $this->releaseIf($lock, static fn (): bool => $job->state !== State::Reserved || $isDead());
    }

    /**
     * A worker could not put the message back, because its lease was lost. It has ended if it was cancelled, and no
     * other worker has it.
     */
    public function lost(QueueInterface $queue, Job $job): void
    {
        $isGone = static fn (): bool => $queue->peek($job->id)?->createdAt !== $job->createdAt;
        $this->releaseIf($this->lockOf($job->body), $isGone);
    }

    /** @param Closure(): bool $hasEnded asks Redis; where that fails, the lock ends by its TTL */
    private function releaseIf(?Key $lock, Closure $hasEnded): void
    {
        try {
            if ($lock !== null && $hasEnded()) {
                $this->release($lock);
            }
        } catch (DelayQueueException $error) {
            $what = 'It is unknown whether the message with the deduplication lock "{lock}" has ended.';
            $this->warn($what, $lock, $error);
        }
    }

    private function warn(string $what, ?Key $lock, Throwable $error): void
    {
        $this->logger?->warning($what, ['lock' => (string) $lock, 'exception' => $error]);
    }
}
