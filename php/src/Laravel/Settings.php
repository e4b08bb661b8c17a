<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue\Laravel\Middleware\HoldsBack;
use Illuminate\Queue\Middleware\RateLimited;
use Illuminate\Queue\Middleware\ThrottlesExceptions;
use Illuminate\Queue\Middleware\WithoutOverlapping;

/** The settings of a queue connection for jobs and workers. */
final class Settings
{
    /** The longest lease there is: of retry_after null, as with other drivers "never". */
    private const FOREVER = 30 * 86400;

    /** Middleware that releases a job for "not now". */
    private const HOLDS_BACK = [
        HoldsBack::class,
        RateLimited::class,
        ThrottlesExceptions::class,
        WithoutOverlapping::class,
        'Spatie\RateLimitedMiddleware\RateLimited',
    ];

    private function __construct(
        public readonly string $queue,
        /** Seconds. */
        public readonly int|float $retryAfter,
        public readonly bool $heartbeat,
        /** Seconds; null: as the worker sleeps. */
        public readonly int|float|null $blockFor,
        public readonly ?bool $afterCommit,
        public readonly bool $buryFailed,
        /** @var list<string> the middleware whose releases count no attempt */
        private readonly array $heldBackBy,
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
            self::heldBackBy($config['release_uncounted'] ?? true),
            is_string($config['outbox'] ?? null) && $config['outbox'] !== '' ? $config['outbox'] : (bool) ($config['outbox'] ?? false),
        );
    }

    /** Whether a release by this middleware counts no attempt. */
    public function holdsBack(mixed $middleware): bool
    {
        // In the list of a job, parameters follow the name of a class.
        $class = is_string($middleware) ? explode(':', $middleware, 2)[0] : $middleware;
        if (!is_object($class) && !is_string($class)) {
            return false;
        }

        return array_filter($this->heldBackBy, static fn (string $one): bool => is_a($class, $one, true)) !== [];
    }

    /** @return list<string> */
    private static function heldBackBy(mixed $setting): array
    {
        return match (true) {
            is_array($setting) => [...self::HOLDS_BACK, ...array_values($setting)],
            (bool) $setting => self::HOLDS_BACK,
            default => [],
        };
    }
}
