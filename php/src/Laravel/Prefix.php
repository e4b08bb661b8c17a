<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use InvalidArgumentException;

/** The beginning of all keys. Where the queue connection names none, applications with different REDIS_PREFIX have separate queues. */
final class Prefix
{
    private const LONGEST = 64;

    /**
     * @param array<string, mixed> $config the queue connection
     * @param array<string, mixed> $redis the configuration database.redis
     *
     * @return string that of the queue connection; else the one that its Redis connection gives to keys, encoded as names of queues are, and "dq"
     *
     * @throws InvalidArgumentException when it is too long
     */
    public static function of(array $config, array $redis): string
    {
        $prefix = (string) ($config['prefix'] ?? '');
        if ($prefix === '') {
            $prefix = QueueName::encode(self::ofRedis($redis, (string) ($config['connection'] ?? 'default'))) . 'dq';
        }
        if (strlen($prefix) > self::LONGEST) {
            throw new InvalidArgumentException(sprintf(
                'The prefix of the queue connection has %d bytes, and %d are the most: set a shorter one in DELAYQUEUE_PREFIX',
                strlen($prefix),
                self::LONGEST,
            ));
        }

        return $prefix;
    }

    /** @param array<string, mixed> $redis */
    private static function ofRedis(array $redis, string $connection): string
    {
        $own = $redis[$connection] ?? null;
        // In the order in which Laravel's connectors read them.
        $prefix = is_array($own)
            ? $own['prefix'] ?? $own['options']['prefix'] ?? null
            : $redis['clusters']['options']['prefix'] ?? null;

        return (string) ($prefix ?? $redis['options']['prefix'] ?? '');
    }
}
