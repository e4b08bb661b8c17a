<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/**
 * One way to have a delay queue from PHP, used as its own documentation would.
 *
 * A peer connects when it is constructed, at the latest with its first call. Delays are relative, in milliseconds; 0 is due now.
 */
interface Peer
{
    public static function traits(): Traits;

    public function __construct(Endpoint $endpoint);

    public function push(string $id, int $delayMs, string $payload): void;

    /**
     * Called only if {@see Traits::$batches}.
     *
     * @param list<array{string, int, string}> $jobs id, delay in ms, payload
     */
    public function pushMany(array $jobs): void;

    /** Reserves a due job and acknowledges it, each with a call of its own; returns its payload, or null if none is due. */
    public function take(): ?string;

    /**
     * The loop of a worker: hands over payloads and acknowledges them, until it has handled $count, $onJob says false, or $seconds
     * are over.
     *
     * @param callable(string): bool $onJob
     * @param int $prefetch jobs a round trip; peers that cannot do it take one
     */
    public function consume(int $count, callable $onJob, int $prefetch, float $seconds): void;

    /** Fills the queue as fast as it can, with {@see Order::id()}, {@see Order::delayMs()} and {@see Order::payload()}. */
    public function fill(int $count, int $delayMs, int $payloadBytes): void;
}
