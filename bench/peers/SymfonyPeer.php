<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Peers;

use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Polling;
use DelayQueue\Bench\Traits;
use LogicException;
use Redis;
use stdClass;
use Symfony\Component\Messenger\Bridge\Redis\Transport\Connection;
use Symfony\Component\Messenger\Bridge\Redis\Transport\RedisTransport;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

/** Symfony Messenger's Redis transport: send() with a DelayStamp, get(), ack(). messenger:consume sleeps a second. */
final class SymfonyPeer implements Peer
{
    use Polling;

    private RedisTransport $transport;

    private int $pollMs;

    public static function traits(): Traits
    {
        return new Traits(
            'symfony/messenger on Redis over phpredis, without the framework and the message bus',
            packages: ['php-symfony-messenger', 'php-symfony-redis-messenger', 'php-redis'],
            polls: [1000],
        );
    }

    public function __construct(private readonly Endpoint $endpoint)
    {
        require_once 'Symfony/Component/Messenger/Bridge/Redis/autoload.php';
        $dsn = $endpoint->unix ? "redis://$endpoint->socket" : "redis://$endpoint->host:$endpoint->port";
        $options = ['stream' => $endpoint->queue, 'group' => 'workers', 'consumer' => 'worker-' . getmypid(), 'delete_after_ack' => true];
        $this->transport = new RedisTransport(Connection::fromDsn($dsn, $options));
        $this->pollMs = $endpoint->pollMs ?? 1000;
    }

    public function push(string $id, int $delayMs, string $payload): void
    {
        $this->transport->send(self::envelope($id, $delayMs, $payload));
    }

    public function pushMany(array $jobs): void
    {
        throw new LogicException('messenger sends one message at a time');
    }

    public function take(float $seconds): ?string
    {
        $envelope = $this->poll(function (): ?Envelope {
            foreach ($this->transport->get() as $envelope) {
                return $envelope;
            }

            return null;
        }, $seconds, $this->pollMs);
        if ($envelope === null) {
            return null;
        }
        $this->transport->ack($envelope);

        return $envelope->getMessage()->payload;
    }

    public function fill(int $count, int $delayMs, int $payloadBytes): void
    {
        $redis = new Redis();
        $redis->connect($this->endpoint->host, $this->endpoint->port);
        $serializer = new PhpSerializer();
        $now = (int) (microtime(true) * 1000);
        for ($from = 0; $from < $count; $from += 1000) {
            $members = [];
            for ($number = $from; $number < min($count, $from + 1000); $number++) {
                // What Connection::add() stores.
                $delay = Order::delayMs($number, $delayMs);
                $envelope = self::envelope(Order::id($number), $delay, Order::payload($number, $payloadBytes));
                $body = $serializer->encode($envelope)['body'];
                $members[] = $now + $delay;
                $members[] = json_encode(['body' => $body, 'headers' => [], 'uniqid' => sprintf('%013d.%08d', $number, $number)]);
            }
            $redis->zAdd("{$this->endpoint->queue}__queue", ...$members);
        }
    }

    private static function envelope(string $id, int $delayMs, string $payload): Envelope
    {
        $message = new stdClass();
        $message->id = $id;
        $message->payload = $payload;

        return new Envelope($message, [new DelayStamp($delayMs)]);
    }
}
