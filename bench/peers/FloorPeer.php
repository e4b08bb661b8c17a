<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Peers;

use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\OneByOne;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Traits;
use LogicException;
use RuntimeException;

/** No queue: one PING over a plain PHP stream wherever a peer moves one job. A queue with a round trip per job cannot be faster. */
final class FloorPeer implements Peer
{
    use OneByOne;

    /** @var resource */
    private $stream;

    private string $payload;

    public static function traits(): Traits
    {
        return new Traits('no queue: one PING per job over a PHP stream', isFloor: true);
    }

    public function __construct(Endpoint $endpoint)
    {
        $context = stream_context_create(['socket' => ['tcp_nodelay' => true]]);
        $this->stream = stream_socket_client("tcp://$endpoint->host:$endpoint->port", context: $context);
        $this->payload = Order::payload(1);
    }

    public function push(string $id, int $delayMs, string $payload): void
    {
        fwrite($this->stream, "*1\r\n\$4\r\nPING\r\n");
        if (fgets($this->stream) !== "+PONG\r\n") {
            throw new RuntimeException('no answer to PING');
        }
    }

    public function pushMany(array $jobs): void
    {
        throw new LogicException('one PING is one PING');
    }

    public function take(): ?string
    {
        $this->push('', 0, '');

        return $this->payload;
    }

    public function fill(int $count, int $delayMs, int $payloadBytes): void
    {
    }
}
