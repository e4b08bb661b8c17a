<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DelayQueue\Symfony\Database\TransportOutbox;
use Doctrine\DBAL\Connection;
use Psr\Container\ContainerInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;
use Symfony\Component\Messenger\Transport\TransportFactoryInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

/**
 * Makes transports of delayqueue DSNs, and knows those it has made.
 *
 * @implements TransportFactoryInterface<Transport>
 */
final class TransportFactory implements TransportFactoryInterface
{
    /** @var array<string, Transport> by name */
    private array $made = [];

    /**
     * @param array<string, mixed> $defaults options of all transports; a transport's own go before them
     * @param ContainerInterface|null $databases DBAL's connections by the names that the option outbox has for them
     * @param LockFactory|null $locks that of Messenger's DeduplicateMiddleware: messages that end without a handler
     *     release their locks
     */
    public function __construct(
        private readonly array $defaults = [],
        private readonly ?LoggerInterface $logger = null,
        private readonly ?ContainerInterface $databases = null,
        private readonly ?LockFactory $locks = null,
    ) {
    }

    /**
     * @param string $dsn delayqueue://[user:pass@]host:port/db?queue=…, delayqueue+unix:///path?db=0, delayqueue+sentinel://…,
     *     delayqueue+cluster://…; delayqueues: and so on with TLS; delayqueue+memory:// in tests; delayqueue: alone for what the extension
     *     is configured with
     *
     * @throws InvalidArgumentException when the DSN or an option is wrong; nothing is sent
     */
    public function createTransport(#[\SensitiveParameter] string $dsn, array $options, SerializerInterface $serializer): TransportInterface
    {
        $settings = Options::read($dsn, $options, $this->defaults);
        $queues = new Queues($settings);
        $codec = new Codec($serializer);
        $ends = new MessageEnds($codec, $this->locks, $this->logger);
        $outbox = $settings->outbox === null ? null : $this->outbox($queues, $ends, $options['transport_name'] ?? null);
        $transport = new Transport($queues, $codec, $ends, $this->logger, $outbox);
        if (isset($options['transport_name'])) {
            $this->made[(string) $options['transport_name']] = $transport;
        }

        return $transport;
    }

    public function supports(#[\SensitiveParameter] string $dsn, array $options): bool
    {
        return Dsn::isOurs($dsn);
    }

    private function outbox(Queues $queues, MessageEnds $ends, ?string $transport): TransportOutbox
    {
        $name = (string) $queues->settings->outbox;
        if ($this->databases === null || !$this->databases->has($name)) {
            throw new InvalidArgumentException(sprintf('Cannot make %s: there is no DBAL connection "%s" for its outbox.', $transport === null ? 'a delayqueue transport' : "the transport \"$transport\"", $name));
        }

        return new TransportOutbox(fn (): Connection => $this->databases->get($name), $queues, $ends);
    }

    /** The transport with this queue on the Redis of another one, if it has been made here. */
    public function madeFor(string $queue, Transport $beside): ?Transport
    {
        foreach ($this->made as $transport) {
            $queues = $transport->queues();
            if ($queues->settings->queue === $queue && $queues->place() === $beside->queues()->place()) {
                return $transport;
            }
        }

        return null;
    }

    /** The transport of this name, if it has been made here. */
    public function made(string $name): ?Transport
    {
        return $this->made[$name] ?? null;
    }
}
