<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DelayQueue\ConnectionException;
use DelayQueue\DuplicateJobException;
use DelayQueue\Internal\RedisClock;
use DelayQueue\Internal\StartBy;
use DelayQueue\LeaseLostException;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\Symfony\Database\TransportOutbox;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Symfony\Stamp\GroupStamp;
use DelayQueue\Symfony\Stamp\HeldStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Throwable;

/**
 * The sending half of a transport.
 *
 * @internal
 */
final class Sender
{
    /** A header of a failed message: queue, id and time of the message it was. */
    private const ORIGIN = 'failed-message';

    /** The stamps of Messenger's SQS transport that name a group. It need not be installed. The FIFO stamp goes first, as there. */
    private const SQS_STAMPS = [
        'Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsFifoStamp',
        'Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsFairQueueStamp',
    ];

    public function __construct(
        private readonly Queues $queues,
        private readonly Codec $codec,
        private readonly Receiver $receiver,
        private readonly MessageEnds $ends,
        private readonly ?TransportOutbox $outbox = null,
    ) {
    }

    public function send(Envelope $envelope): Envelope
    {
        try {
            return $this->sent($envelope);
        } catch (Throwable $error) {
            $cause = $error->getPrevious();
            $isStored = $cause instanceof ConnectionException && $cause->ambiguous; // It may be.
            if (!$isStored && $envelope->last(HeldStamp::class) === null) {
                $this->ends->ended($envelope);
            }
            throw $error;
        }
    }

    private function sent(Envelope $envelope): Envelope
    {
        // The id is the job's own; each receive would add one more.
        $envelope = $envelope->withoutAll(TransportMessageIdStamp::class);
        $body = $this->codec->encode($envelope);
        $held = $envelope->last(HeldStamp::class);
        $isFailed = $held !== null && $envelope->last(SentToFailureTransportStamp::class) !== null;
        $id = Queues::call(fn (): string => match (true) {
            $held !== null && $this->isRetry($envelope, $held) => $held->limit() === null
                ? $this->putBack($envelope, $held, $body)
                : $this->receiver->holdBack($held, $held->limit(), $this->codec->encode(self::withoutRetry($envelope))),
            $isFailed && $held->owner !== $this->queues => $this->pushFailed($envelope, $held, $body),
            default => $this->pushNew($envelope, $body, $envelope->last(DelayQueueStamp::class)),
        });

        return $envelope->with(new TransportMessageIdStamp($id));
    }

    /** Messenger retries by sending the received envelope to its own transport once more, and acknowledging it afterwards. */
    private function isRetry(Envelope $envelope, HeldStamp $held): bool
    {
        return $held->owner === $this->queues && !$held->isDone() && $envelope->last(RedeliveryStamp::class) !== null;
    }

    /** Messenger has counted a retry, and given it a time. */
    private static function withoutRetry(Envelope $envelope): Envelope
    {
        foreach ([DelayStamp::class, RedeliveryStamp::class] as $stamp) {
            $envelope = $envelope->withoutAll($stamp)->with(...array_slice($envelope->all($stamp), 0, -1));
        }

        return $envelope;
    }

    /** The job gets its new stamps and its new time: nothing to lose and nothing to double in between. Messenger counts the retries. */
    private function putBack(Envelope $envelope, HeldStamp $held, string $body): string
    {
        $job = $held->job ?? $this->queues->own()->reserveJob($held->id);
        $held->done();
        $lease = $job;
        try {
            $job?->update($body, StartBy::without($job->headers));
            $job?->release(RedisClock::in(self::delay($envelope), $this->queues->own()), countAttempt: false, error: $held->failure() ?? 'handling the message failed');
        } catch (LeaseLostException) {
            $job = null;
        }
        if ($job === null) {
            $this->receiver->lost($held->id, $lease);
        }

        return $held->id;
    }

    /**
     * Under its own id. A worker that died between here and the end of the failed job comes here again: still one message. Never by way of an outbox:
     * the failed job ends now, so its successor cannot wait for a commit.
     */
    private function pushFailed(Envelope $envelope, HeldStamp $held, string $body): string
    {
        $origin = json_encode([$held->owner->settings->queue, $held->id, $held->createdAt], JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
        $headers = [self::ORIGIN => $origin];
        try {
            return $this->push($envelope, $body, new DelayQueueStamp(id: $held->id), $headers);
        } catch (DuplicateJobException) {
            $same = ($this->queues->own()->peek($held->id)?->headers[self::ORIGIN] ?? null) === $origin;

            return $same ? $held->id : $this->push($envelope, $body, null, $headers);
        }
    }

    /** By way of the outbox. A row cannot reserve an id, but outside of a transaction Redis can. */
    private function pushNew(Envelope $envelope, string $body, ?DelayQueueStamp $wish): string
    {
        $usesOutbox = $this->outbox !== null && (!isset($wish?->options['unique']) || $this->outbox->isInTransaction());

        return $usesOutbox
            ? $this->outbox->push($this->job($envelope, $body, $wish))
            : $this->pushOrEnd($envelope, $body, $wish);
    }

    /** A message that is kept out ends here, and so does one that gives way to it. */
    private function pushOrEnd(Envelope $envelope, string $body, ?DelayQueueStamp $wish): string
    {
        $named = $wish?->options['id'] ?? null;
        $onDuplicate = $wish?->options['onDuplicate'] ?? OnDuplicate::Fail;
        $replaces = $named !== null && $onDuplicate === OnDuplicate::Replace && $this->ends->isUsed();
        $old = $replaces ? $this->queues->own()->peek($named) : null;
        if ($onDuplicate === OnDuplicate::Keep) {
            $id = $this->queues->own()->tryPush($this->atItsTime($this->job($envelope, $body, $wish)));
            if ($id === null) {
                $this->ends->ended($envelope);
            }

            return $id ?? (string) $named;
        }
        $id = $this->push($envelope, $body, $wish);
        if ($old !== null) {
            $this->ends->left($this->queues->own(), $old);
        }

        return $id;
    }

    /** @param array<string, string> $headers */
    private function push(Envelope $envelope, string $body, ?DelayQueueStamp $wish, array $headers = []): string
    {
        return $this->queues->own()->push(...$this->atItsTime($this->job($envelope, $body, $wish, $headers)));
    }

    /**
     * @param array<string, mixed> $job
     *
     * @return array<string, mixed>
     */
    private function atItsTime(array $job): array
    {
        return ['delay' => RedisClock::in($job['delay'], $this->queues->own())] + $job;
    }

    /**
     * @param array<string, string> $headers
     *
     * @return array<string, mixed> as tryPush() takes it
     */
    private function job(Envelope $envelope, string $body, ?DelayQueueStamp $wish, array $headers = []): array
    {
        $options = $wish?->options ?? [];
        if (isset($options['expires']) && $this->ends->lockOf($envelope) !== null) {
            $method = DelayQueueStamp::class . '::__construct';
            $headers += StartBy::header($options['expires'], $options['onExpiry'] ?? OnExpiry::Bury, $method, 'Argument ($expires)');
            unset($options['expires'], $options['onExpiry']);
        }

        return [
            'payload' => $body,
            'delay' => self::delay($envelope),
            'headers' => $headers + ($options['headers'] ?? []),
            'group' => self::group($envelope) ?? $options['group'] ?? null,
        ] + $options;
    }

    private static function group(Envelope $envelope): ?string
    {
        $group = $envelope->last(GroupStamp::class)?->group;
        foreach (self::SQS_STAMPS as $stamp) {
            $group ??= $envelope->last($stamp)?->getMessageGroupId();
        }

        return $group;
    }

    /** In seconds. */
    private static function delay(Envelope $envelope): int|float
    {
        return ($envelope->last(DelayStamp::class)?->getDelay() ?? 0) / 1000;
    }
}
