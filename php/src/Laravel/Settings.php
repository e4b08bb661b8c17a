<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

/** The settings of a queue connection for jobs and workers. */
final class Settings
{
    /** The longest lease there is: of retry_after null, as with other drivers "never". */
    private const FOREVER = 30 * 86400;

    private function __construct(
        public readonly string $queue,
        /** Seconds. */
        public readonly int|float $retryAfter,
        public readonly bool $heartbeat,
        /** Seconds; null: as the worker sleeps. */
        public readonly int|float|null $blockFor,
        public readonly ?bool $afterCommit,
        public readonly bool $buryFailed,
        /** A release by Laravel's own limiting middleware counts no attempt. */
        public readonly bool $releaseUncounted,
        /** The database connection whose transactions jobs wait for; true: the default one; false: jobs wait for none. */
        public readonly string|bool $outbox,
    ) {
    }

    /** @param array<string, mixed> $config */
    public static function of(array $config): self
    {
        $retryAfter = array_key_exists('retry_after', $config) ? $config['retry_after'] : 60;

        return new self(
            (string) ($config['queue'] ?? 'default'),
            $retryAfter === null ? self::FOREVER : $retryAfter + 0,
            (bool) ($config['heartbeat'] ?? true),
            isset($config['block_for']) ? max(0, $config['block_for'] + 0) : null,
            $config['after_commit'] ?? null,
            (bool) ($config['bury_failed'] ?? false),
            (bool) ($config['release_uncounted'] ?? true),
            is_string($config['outbox'] ?? null) && $config['outbox'] !== '' ? $config['outbox'] : (bool) ($config['outbox'] ?? false),
        );
    }
}
