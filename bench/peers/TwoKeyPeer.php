<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Peers;

use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\OneByOne;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Traits;
use Redis;

/**
 * The recipe of many articles: a ZSET of due times and a HASH of payloads, moved by two Lua scripts through phpredis.
 *
 * It deletes what it hands out: there is no lease and nothing to acknowledge. A script is sent whole only if Redis does not know it.
 */
final class TwoKeyPeer implements Peer
{
    use OneByOne;

    private const PUSH = "redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) return 1";

    private const TAKE = <<<'LUA'
        local id = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1)[1]
        if not id then return nil end
        redis.call('ZREM', KEYS[1], id)
        local payload = redis.call('HGET', KEYS[2], id)
        redis.call('HDEL', KEYS[2], id)
        return payload
        LUA;

    private Redis $redis;

    /** @var array{string, string} the ZSET and the HASH */
    private array $keys;

    public static function traits(): Traits
    {
        return new Traits(
            'ZSET + HASH and two Lua scripts over phpredis; deletes what it hands out, so no ack',
            packages: ['php-redis'],
            batches: true,
            persists: true,
        );
    }

    public function __construct(Endpoint $endpoint)
    {
        $this->redis = new Redis();
        $connect = $endpoint->persistent ? 'pconnect' : 'connect';
        $this->redis->$connect($endpoint->host, $endpoint->port);
        $this->keys = [$endpoint->queue, "$endpoint->queue:payloads"];
    }

    public function push(string $id, int $delayMs, string $payload): void
    {
        $this->script(self::PUSH, self::nowMs() + $delayMs, $id, $payload);
    }

    public function pushMany(array $jobs): void
    {
        $now = self::nowMs();
        $sha = $this->redis->script('load', self::PUSH);
        $pipeline = $this->redis->pipeline();
        foreach ($jobs as [$id, $delayMs, $payload]) {
            $pipeline->evalSha($sha, [...$this->keys, $now + $delayMs, $id, $payload], 2);
        }
        $pipeline->exec();
    }

    public function take(): ?string
    {
        return $this->script(self::TAKE, self::nowMs()) ?: null;
    }

    public function fill(int $count, int $delayMs, int $payloadBytes): void
    {
        $now = self::nowMs();
        for ($from = 0; $from < $count; $from += 1000) {
            $members = $payloads = [];
            for ($number = $from; $number < min($count, $from + 1000); $number++) {
                array_push($members, $now + Order::delayMs($number, $delayMs), Order::id($number));
                $payloads[Order::id($number)] = Order::payload($number, $payloadBytes);
            }
            $this->redis->pipeline()->zAdd($this->keys[0], ...$members)->hMSet($this->keys[1], $payloads)->exec();
        }
    }

    private function script(string $source, int|string ...$arguments): mixed
    {
        static $names = [];
        $name = $names[$source] ??= sha1($source);
        $answer = $this->redis->evalSha($name, [...$this->keys, ...$arguments], 2);
        if ($answer === false && $this->redis->getLastError() !== null) {
            $this->redis->clearLastError();
            $answer = $this->redis->eval($source, [...$this->keys, ...$arguments], 2);
        }

        return $answer;
    }

    private static function nowMs(): int
    {
        return (int) (microtime(true) * 1000);
    }
}
