<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

/**
 * The settings of a transport, read and checked.
 *
 * @internal
 */
final class Settings
{
    /**
     * @param string|null $dsn as new DelayQueue() takes it; null: what the extension is configured with
     * @param array<string, mixed> $queueOptions as new DelayQueue() takes them
     * @param bool|float $heartbeat false: none; seconds: for so long at most
     * @param positive-int $prefetch how many messages one get() may take
     * @param string|null $outbox the DBAL connection in whose transactions messages are rows; null: none
     */
    public function __construct(
        #[\SensitiveParameter] public readonly ?string $dsn,
        public readonly string $queue,
        #[\SensitiveParameter] public readonly array $queueOptions,
        public readonly bool|float $heartbeat = true,
        public readonly bool $buryOnReject = false,
        public readonly int $prefetch = 1,
        public readonly ?string $outbox = null,
    ) {
    }
}
