<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Peers;

use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Polling;
use DelayQueue\Bench\Traits;
use Illuminate\Container\Container;
use Illuminate\Queue\RedisQueue;
use Illuminate\Redis\RedisManager;

/** Laravel's queue on Redis without Laravel: later(), pop(), delete(). Whole seconds; queue:work sleeps three of them. */
final class IlluminatePeer implements Peer
{
    use Polling;

    private RedisQueue $queue;

    private string $name;

    private int $pollMs;

    public static function traits(): Traits
    {
        return new Traits(
            'illuminate/queue on Redis over phpredis, without the framework',
            packages: ['php-illuminate-queue', 'php-illuminate-redis', 'php-redis'],
            batches: true,
            persists: true,
            polls: [3000],
            resolutionMs: 1000,
        );
    }

    public function __construct(Endpoint $endpoint)
    {
        require_once 'Illuminate/Queue/autoload.php';
        require_once 'Illuminate/Redis/autoload.php';
        $container = new Container();
        $server = $endpoint->unix ? ['host' => $endpoint->socket, 'port' => 0] : ['host' => $endpoint->host, 'port' => $endpoint->port];
        $redis = new RedisManager($container, 'phpredis', ['default' => $server + ['persistent' => $endpoint->persistent]]);
        $this->name = $endpoint->queue;
        $this->queue = new RedisQueue($redis, $this->name);
        $this->queue->setContainer($container);
        $this->queue->setConnectionName('redis');
        $this->pollMs = $endpoint->pollMs ?? 3000;
    }

    public function push(string $id, int $delayMs, string $payload): void
    {
        $this->queue->later((int) ceil($delayMs / 1000), 'CloseOrder', $payload);
    }

    public function pushMany(array $jobs): void
    {
        // bulk() is this pipeline too, but knows no delays.
        $this->queue->getConnection()->pipeline(function () use ($jobs): void {
            foreach ($jobs as [$id, $delayMs, $payload]) {
                $this->push($id, $delayMs, $payload);
            }
        });
    }

    public function take(float $seconds): ?string
    {
        $job = $this->poll(fn () => $this->queue->pop(), $seconds, $this->pollMs);
        $job?->delete();

        return $job?->payload()['data'];
    }

    public function fill(int $count, int $delayMs, int $payloadBytes): void
    {
        $redis = $this->queue->getConnection();
        for ($from = 0; $from < $count; $from += 1000) {
            $members = [];
            for ($number = $from; $number < min($count, $from + 1000); $number++) {
                // What createPayload() makes, with the random parts replaced by the number.
                $members[] = time() + (int) ceil(Order::delayMs($number, $delayMs) / 1000);
                $members[] = json_encode([
                    'uuid' => sprintf('f47ac10b-58cc-4372-a567-%012d', $number), 'displayName' => 'CloseOrder', 'job' => 'CloseOrder',
                    'maxTries' => null, 'maxExceptions' => null, 'failOnTimeout' => false, 'backoff' => null, 'timeout' => null,
                    'data' => Order::payload($number, $payloadBytes), 'id' => sprintf('%032d', $number), 'attempts' => 0,
                ]);
            }
            $redis->command('zAdd', ["queues:$this->name:delayed", ...$members]);
        }
    }
}
