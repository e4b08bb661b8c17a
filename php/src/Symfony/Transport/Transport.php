<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Symfony\Compat\Closeable;
use DelayQueue\Symfony\Compat\Keepalive;
use DelayQueue\Symfony\Database\TransportOutbox;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Transport\Receiver\ListableReceiverInterface;
use Symfony\Component\Messenger\Transport\Receiver\MessageCountAwareInterface;
use Symfony\Component\Messenger\Transport\Receiver\QueueReceiverInterface;
use Symfony\Component\Messenger\Transport\SetupableTransportInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

/**
 * A delay queue as a transport of Symfony Messenger, 5.4 to 8.1. Every method but the constructor's throws TransportException where
 * Redis cannot be reached or refuses.
 */
final class Transport implements
    TransportInterface,
    QueueReceiverInterface,
    ListableReceiverInterface,
    MessageCountAwareInterface,
    SetupableTransportInterface,
    Keepalive,
    Closeable
{
    private readonly Receiver $receiver;

    private readonly Sender $sender;

    /** @internal TransportFactory makes transports */
    public function __construct(
        private readonly Queues $queues,
        private readonly Codec $codec,
        private readonly MessageEnds $ends,
        ?LoggerInterface $logger = null,
        private readonly ?TransportOutbox $outbox = null,
    ) {
        $this->receiver = new Receiver($queues, $codec, $ends, $logger);
        $this->sender = new Sender($queues, $codec, $this->receiver, $ends, $outbox);
    }

    /** @return iterable<Envelope> at most one, or as many as $fetchSize (Messenger 8.1) or the option prefetch says */
    public function get(/* int $fetchSize = 1 */): iterable
    {
        return $this->receiver->get([], func_num_args() > 0 ? (int) func_get_arg(0) : 1);
    }

    /** @return iterable<Envelope> of these queues instead of the transport's own, the first one first */
    public function getFromQueues(array $queueNames/* , int $fetchSize = 1 */): iterable
    {
        return $this->receiver->get(array_values($queueNames), func_num_args() > 1 ? (int) func_get_arg(1) : 1);
    }

    public function ack(Envelope $envelope): void
    {
        $this->receiver->ack($envelope);
    }

    /** Removes the message; with the option bury_on_reject it is set aside instead. */
    public function reject(Envelope $envelope): void
    {
        $this->receiver->reject($envelope);
    }

    public function send(Envelope $envelope): Envelope
    {
        return $this->sender->send($envelope);
    }

    /** Holds the message for $seconds twice, at least for its TTR. Only needed with the option heartbeat: false. */
    public function keepalive(Envelope $envelope, ?int $seconds = null): void
    {
        $this->receiver->keepalive($envelope, $seconds);
    }

    /** Messages that are due and that no worker has. */
    public function getMessageCount(): int
    {
        return Queues::call(fn (): int => $this->queues->own()->count(State::Ready));
    }

    /** @return iterable<Envelope> ready and buried ones, without taking them; find() also finds delayed ones */
    public function all(?int $limit = null): iterable
    {
        return (new Listing($this->queues, $this->codec))->all($limit);
    }

    /** Null also while a worker has it. */
    public function find(mixed $id): ?Envelope
    {
        return (new Listing($this->queues, $this->codec))->find((string) $id);
    }

    /**
     * Makes the tables of its outbox, where it has one, and asks whether this Redis endangers messages.
     *
     * @throws TransportException that names the danger and its cure
     */
    public function setup(): void
    {
        $this->outbox?->install();
        $errors = array_filter(
            Queues::call(fn (): array => $this->queues->own()->doctor()),
            static fn (array $finding): bool => $finding['level'] === 'error',
        );
        if ($errors !== []) {
            throw new TransportException(implode(' ', array_column($errors, 'message')));
        }
    }

    public function close(): void
    {
        $this->queues->close();
    }

    /** The transport's queue, for what Messenger has no words for: cancel, reschedule, statistics. */
    public function queue(): DelayQueue
    {
        return $this->queues->own();
    }

    /**
     * @internal
     *
     * @return bool whether there was one; with an outbox also true where Redis does not answer: the relay removes it
     */
    public function cancel(string $id): bool
    {
        if ($this->outbox !== null) {
            return $this->outbox->cancel($id);
        }
        if (!$this->ends->isUsed()) {
            return $this->queue()->cancel($id) > 0;
        }
        $job = $this->queue()->peek($id);

        return $job !== null && $this->ends->cancel($this->queue(), $job) > 0;
    }

    /** @internal */
    public function queues(): Queues
    {
        return $this->queues;
    }

    /** @internal */
    public function ends(): MessageEnds
    {
        return $this->ends;
    }

    /** @internal */
    public function outbox(): ?TransportOutbox
    {
        return $this->outbox;
    }

    /** @internal */
    public function receiver(): Receiver
    {
        return $this->receiver;
    }
}
