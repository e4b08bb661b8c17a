<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DelayQueue\Exception as DelayQueueException;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\StartBy;
use DelayQueue\Job;
use DelayQueue\LeaseLostException;
use DelayQueue\RateLimited;
use DelayQueue\Symfony\Stamp\HeldStamp;
use DelayQueue\Symfony\Worker\SharedWait;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\LogicException;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;
use Symfony\Component\Messenger\Exception\TransportException;
use WeakMap;

/**
 * The receiving half of a transport.
 *
 * @internal
 */
final class Receiver
{
    private ?SharedWait $wait = null;

    /** @var WeakMap<HeldStamp, true> what get() has handed out */
    private WeakMap $inHand;

    private readonly Expiry $expiry;

    public function __construct(
        private readonly Queues $queues,
        private readonly Codec $codec,
        private readonly MessageEnds $ends,
        private readonly ?LoggerInterface $logger = null,
    ) {
        $this->inHand = new WeakMap();
        $this->expiry = new Expiry($queues, $ends);
    }

    /** From now on get() takes part in a wait of several transports; null: it does not wait. */
    public function waitWith(?SharedWait $wait): void
    {
        $this->wait = $wait;
    }

    /** Whether a message was handed out that is not settled yet: a batch handler has it. */
    public function hasUnsettled(): bool
    {
        foreach ($this->inHand as $stamp => $_) {
            if (!$stamp->isDone()) {
                return true;
            }
        }

        return false;
    }

    /**
     * @param list<string> $names none: the transport's own queue
     *
     * @return iterable<Envelope>
     */
    public function get(array $names = [], int $max = 1): iterable
    {
        $max = max($max, $this->queues->settings->prefetch);
        do {
            $taken = $this->wait === null ? $this->take($names, $max) : $this->wait->jobsOf($this, $names, $max);
            $jobs = array_values(array_filter($taken, $this->mayBegin(...)));
        } while ($jobs === [] && $taken !== []);

        return count($jobs) > 1 ? $this->oneByOne($jobs) : array_map($this->held(...), $jobs);
    }

    /**
     * @param list<string> $names none: the transport's own queue
     *
     * @return list<Job>
     */
    public function take(array $names, int $max, float $timeout = 0.0): array
    {
        return Queues::call(fn (): array => $this->queues->serving($names ?: [$this->queues->settings->queue])->reserveMany($max, $timeout));
    }

    public function queues(): Queues
    {
        return $this->queues;
    }

    public function ack(Envelope $envelope): void
    {
        // Messenger also acknowledges what has failed, once another transport has it.
        $failed = self::stamp($envelope)->failure() !== null;
        $this->settle($envelope, static fn (Job $job) => $job->ack($failed));
    }

    public function reject(Envelope $envelope): void
    {
        $why = self::stamp($envelope)->failure() ?? 'rejected';
        $isBuried = $this->queues->settings->buryOnReject;
        $reject = static fn (Job $job) => $isBuried ? $job->bury($why, failed: true) : $job->ack(failed: true);
        $this->settle($envelope, $reject, isEnd: true);
    }

    public function keepalive(Envelope $envelope, ?int $seconds): void
    {
        $job = self::stamp($envelope)->job;
        if ($job === null || $job->isSettled()) {
            return;
        }
        $isHeld = self::holds(static fn () => $job->touch(max($job->ttr, 2 * (int) $seconds)));
        $isHeld || $this->lost($job->id);
    }

    /**
     * The job's lease is gone: somebody else has it, or it was cancelled. Not an error, because nothing was done to it.
     *
     * @param Job|null $unfinished what could not be put back
     */
    public function lost(string $id, ?Job $unfinished = null): void
    {
        $what = 'The lease of message {id} of queue {queue} ended before it was settled: '
            . 'it was cancelled, or runs once more.';
        $this->logger?->warning($what, ['id' => $id, 'queue' => $this->queues->settings->queue]);
        $unfinished === null ?: $this->ends->lost($this->queues->serving([$unfinished->queue]), $unfinished);
    }

    /**
     * Hands them out as they are asked for; what a worker that stops does not ask for goes back.
     *
     * @param list<Job> $jobs
     *
     * @return iterable<Envelope>
     */
    private function oneByOne(array $jobs): iterable
    {
        array_walk($jobs, fn (Job $job) => $this->heartbeat($job));
        try {
            while ($jobs !== []) {
                $job = array_shift($jobs);
                if ($this->mayBegin($job)) {
                    yield $this->held($job);
                }
            }
        } finally {
            $this->giveBack($jobs);
        }
    }

    /** False: it has waited behind others for too long, or was cancelled meanwhile. */
    private function mayBegin(Job $job): bool
    {
        if ($job->isLost() || $job->timeLeft() <= 0.0) {
            $this->lost($job->id, $job);

            return false;
        }

        return $this->expiry->isInTime($job);
    }

    /** @param list<Job> $jobs as if they had never been taken */
    public function giveBack(array $jobs): void
    {
        foreach ($jobs as $job) {
            try {
                $job->release(0, countAttempt: false);
            } catch (LeaseLostException) {
                $this->lost($job->id, $job);
            } catch (DelayQueueException) {
                // Its lease ends by itself.
            }
        }
    }

    /**
     * Closes the group and puts the message back in its old place, uncounted, as consume() does when a handler throws RateLimited.
     *
     * @param string|null $body with what other handlers of the message have done
     *
     * @return string its id
     */
    public function holdBack(HeldStamp $stamp, RateLimited $limit, ?string $body = null): string
    {
        $stamp->done();
        try {
            $this->queues->serving([$stamp->job->queue])->rateLimit($limit->delay, $limit->group ?? $stamp->group);
        } finally {
            try {
                $headers = StartBy::without($stamp->job->headers);
                $body === null && $headers === null || $stamp->job->update($body, $headers);
                $stamp->job->release(Moment::of($stamp->job->dueAt), countAttempt: false);
            } catch (LeaseLostException) {
                $this->lost($stamp->id, $stamp->job);
            }
        }

        return $stamp->id;
    }

    private function held(Job $job): Envelope
    {
        $stamp = new HeldStamp($this->queues, $job->id, $job->createdAt, $job, $job->group);
        try {
            $envelope = $this->codec->received($job->body, $stamp);
        } catch (MessageDecodingFailedException $error) {
            // The worker is told by the exception; the message stays, set aside.
            Queues::call(static fn () => $job->bury($error));
            throw $error;
        }
        $this->heartbeat($job);
        $this->inHand[$stamp] = true;

        return $envelope;
    }

    /** Its lease lives as long as this worker does, unless the transport says otherwise. */
    public function heartbeat(Job $job): void
    {
        $heartbeat = $this->queues->settings->heartbeat;
        if ($heartbeat !== false) {
            Queues::call(static fn () => $job->keepAlive($heartbeat === true ? null : $heartbeat));
        }
    }

    /** @param \Closure(Job): void $how of a job under a lease; one that was only looked at is removed */
    private function settle(Envelope $envelope, \Closure $how, bool $isEnd = false): void
    {
        $stamp = self::stamp($envelope);
        if ($stamp->isDone()) {
            return;
        }
        $limit = $stamp->limit();
        if ($limit !== null) {
            Queues::call(fn () => $this->holdBack($stamp, $limit));

            return;
        }
        $job = $stamp->job;
        if (!self::holds(fn () => $job === null ? $this->queues->own()->cancel($stamp->id) : $how($job))) {
            $this->lost($stamp->id, $isEnd ? $job : null);
        } elseif ($isEnd) {
            $this->ends->ended($envelope);
        }
        $stamp->done();
    }

    /** Whether the lease was there that $work needs. */
    private static function holds(\Closure $work): bool
    {
        try {
            Queues::call($work);

            return true;
        } catch (TransportException $error) {
            return $error->getPrevious() instanceof LeaseLostException ? false : throw $error;
        }
    }

    private static function stamp(Envelope $envelope): HeldStamp
    {
        return $envelope->last(HeldStamp::class) ?? throw new LogicException('This envelope was not received from a delayqueue transport.');
    }
}
