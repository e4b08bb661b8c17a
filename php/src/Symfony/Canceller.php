<?php

declare(strict_types=1);

namespace DelayQueue\Symfony;

use DateInterval;
use DateTimeInterface;
use DelayQueue;
use DelayQueue\Internal\RedisClock;
use DelayQueue\JobInfo;
use DelayQueue\Symfony\Transport\Queues;
use DelayQueue\Symfony\Transport\Transport;
use DelayQueue\Symfony\Transport\TransportFactory;
use Psr\Container\ContainerInterface;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Contracts\Service\ServiceProviderInterface;
use Throwable;

/** Finds messages by their ids (DelayQueueStamp, TransportMessageIdStamp) and takes them back. */
final class Canceller
{
    /**
     * @param ContainerInterface $transports by name
     * @param string|null $default the transport that is meant where none is named
     */
    public function __construct(
        private readonly ContainerInterface $transports,
        private readonly TransportFactory $factory,
        private readonly ?string $default = null,
    ) {
    }

    /**
     * Removes a message in any state. A worker that handles it at this moment runs on; its acknowledgement changes nothing. With an outbox and
     * inside of its transaction, the message is removed when that is committed.
     *
     * @return bool false when there was none; with an outbox also true where Redis does not answer: the relay removes it
     *
     * @throws TransportException
     */
    public function cancel(string $id, ?string $transport = null): bool
    {
        return Queues::call(fn (): bool => $this->transport($transport)->cancel($id));
    }

    /**
     * @internal Cancels jobs of any queue on the Redis of a transport. The messages of a queue are decoded as those of
     *     the transport that has it.
     *
     * @return int how many there were still
     */
    public function cancelFound(Transport $beside, DelayQueue $queue, JobInfo ...$jobs): int
    {
        if (!$beside->ends()->isUsed()) {
            return $queue->cancel(...array_column($jobs, 'id'));
        }
        $transport = $this->factory->madeFor($queue->name(), $beside);
        $names = $this->transports instanceof ServiceProviderInterface
            ? array_keys($this->transports->getProvidedServices())
            : [];
        while ($transport === null && $names !== []) {
            try {
                $this->transports->get(array_shift($names));
            } catch (Throwable) {
                continue; // It may be of another kind, whose server or extension is not there.
            }
            $transport = $this->factory->madeFor($queue->name(), $beside);
        }

        return ($transport ?? $beside)->ends()->cancel($queue, ...$jobs);
    }

    /**
     * Moves a message to another time.
     *
     * @param int|float|string|DateInterval|DateTimeInterface $when seconds from now, a duration such as '1h', or a moment
     *
     * @return bool false when it is not there, or a worker has it
     *
     * @throws TransportException
     */
    public function reschedule(string $id, int|float|string|DateInterval|DateTimeInterface $when, ?string $transport = null): bool
    {
        return Queues::call(function () use ($id, $when, $transport): bool {
            $queue = $this->transport($transport)->queue();

            return $queue->reschedule($id, $when instanceof DateTimeInterface ? RedisClock::until($when, $queue) : $when);
        });
    }

    /**
     * Looks at a message: its state, times, attempts, last error.
     *
     * @throws TransportException
     */
    public function find(string $id, ?string $transport = null): ?JobInfo
    {
        return Queues::call(fn (): ?JobInfo => $this->transport($transport)->queue()->peek($id));
    }

    /**
     * @internal
     *
     * @throws InvalidArgumentException when there is no such transport, or it is not one of delayqueue's
     */
    public function transport(?string $name): Transport
    {
        $name ??= $this->default ?? throw new InvalidArgumentException('Name a transport, or set delay_queue.default_transport.');
        if (!$this->transports->has($name)) {
            throw new InvalidArgumentException("There is no transport \"$name\".");
        }
        $found = $this->transports->get($name);
        // A decorated one was made here all the same.
        $transport = $found instanceof Transport ? $found : $this->factory->made($name);

        return $transport ?? throw new InvalidArgumentException("The transport \"$name\" is not a delayqueue.");
    }
}
