<?php

/** Functions that the scripts of these tests share. They run in threads: threads.c says how. */

declare(strict_types=1);

use DelayQueue\Tests\Support\RedisClient;

require_once __DIR__ . '/../../phpunit/support/RedisClient.php';

/** Ends this thread's request with the status 1 unless both are the same. */
function expect(mixed $expected, mixed $actual, string $what): void
{
    if ($expected !== $actual) {
        complain("$what: expected " . var_export($expected, true) . ', got ' . var_export($actual, true));
    }
}

function complain(string $what): never
{
    file_put_contents('php://stderr', 'thread ' . THREAD . ', round ' . ROUND . ": $what\n");
    exit(1);
}

function redis(): RedisClient
{
    static $client;

    return $client ??= new RedisClient((string) getenv('THREADS_SOCKET'));
}

function dsn(): string
{
    return 'redis+unix://' . getenv('THREADS_SOCKET') . '?db=0';
}

/** Waits until a condition holds. */
function until(callable $condition, string $what, float $seconds = 20.0): void
{
    for ($deadline = microtime(true) + $seconds; !$condition(); usleep(2000)) {
        if (microtime(true) > $deadline) {
            complain("did not happen in time: $what");
        }
    }
}

/** Waits until so many threads (null: all) have come to the same point of the same round. */
function meet(string $where, ?int $threads = null): void
{
    $key = "meeting-$where-" . ROUND;
    redis()->ask('INCR', $key);
    until(static fn (): bool => (int) redis()->ask('GET', $key) >= ($threads ?? THREADS), "all threads come to $where");
}

/** How many connections the extension has open in this process. */
function connections(): int
{
    return preg_match_all('/\bname=delayqueue:' . getmypid() . '\b/', redis()->ask('CLIENT', 'LIST'));
}
