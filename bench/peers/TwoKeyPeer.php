<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Peers;

use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Polling;
use DelayQueue\Bench\Traits;
use Redis;

/**
 * The recipe of many articles: a ZSET of due times and a HASH of payloads, moved by two Lua scripts through phpredis.
 *
 * It deletes what it hands out: there is no lease and nothing to acknowledge. A script is sent whole only if Redis does not know it.
 */
final class TwoKeyPeer implements Peer
{
    use Polling {
        consume as private consumeOneByOne;
    }

    private const PUSH = "redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) return 1";

    private const TAKE = <<<'LUA'
        local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
        if #ids == 0 then return {} end
        redis.call('ZREM', KEYS[1], unpack(ids))
        local payloads = redis.call('HMGET', KEYS[2], unpack(ids))
        redis.call('HDEL', KEYS[2], unpack(ids))
        return payloads
        LUA;

    private Redis $redis;

    /** @var array{string, string} the ZSET and the HASH */
    private array $keys;

    private int $pollMs;

    public static function traits(): Traits
    {
        return new Traits(
            'ZSET + HASH and two Lua scripts over phpredis; deletes what it hands out, so no ack',
            packages: ['php-redis'],
            batches: true,
            prefetches: true,
            persists: true,
            polls: [1000, 10],
        );
    }

    public function __construct(Endpoint $endpoint)
    {
        $this->redis = new Redis();
        $connect = $endpoint->persistent ? 'pconnect' : 'connect';
        $endpoint->unix ? $this->redis->$connect($endpoint->socket) : $this->redis->$connect($endpoint->host, $endpoint->port);
        $this->keys = [$endpoint->queue, "$endpoint->queue:payloads"];
        $this->pollMs = $endpoint->pollMs ?? 1000;
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

    public function take(float $seconds): ?string
    {
        return $this->poll(fn () => $this->look(1)[0] ?? null, $seconds, $this->pollMs);
    }

    public function consume(int $count, callable $onJob, int $prefetch, float $seconds): void
    {
        if ($prefetch === 1) {
            $this->consumeOneByOne($count, $onJob, 1, $seconds);

            return;
        }
        $end = microtime(true) + $seconds;
        for ($done = 0; $done < $count; ) {
            $most = min($prefetch, $count - $done);
            $payloads = $this->poll(fn () => $this->look($most) ?: null, max(0.0, $end - microtime(true)), $this->pollMs);
            foreach ($payloads ?? [] as $payload) {
                if (!$onJob($payload)) {
                    return;
                }
            }
            if ($payloads === null) {
                return;
            }
            $done += count($payloads);
        }
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

    /** @return list<string> payloads of what is due */
    private function look(int $most): array
    {
        return $this->script(self::TAKE, self::nowMs(), $most);
    }

    private function script(string $source, int|string ...$arguments): mixed
    {
        static $names = [];
        $name = $names[$source] ??= sha1($source);
        $answer = $this->redis->evalSha($name, [...$this->keys, ...$arguments], 2);
        if ($answer === false) {
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
