<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Illuminate\Support\ConfigurationUrlParser;
use InvalidArgumentException;

/** The DSN of a connection in database.redis, read as Laravel's RedisManager reads it. */
final class Dsn
{
    /**
     * @param array<string, mixed> $redis the configuration database.redis
     *
     * @throws InvalidArgumentException when there is no such connection, or it is of a kind that has no single address
     */
    public static function of(array $redis, string $connection): string
    {
        if (isset($redis[$connection]) && is_array($redis[$connection])) {
            return self::single($redis[$connection], $connection);
        }
        $cluster = $redis['clusters'][$connection] ?? null;
        if (is_array($cluster) && $cluster !== []) {
            return self::cluster(array_values($cluster));
        }
        throw new InvalidArgumentException("database.redis has no connection [$connection]: name another in the queue connection, or set its dsn");
    }

    /** @param array<string, mixed> $config */
    private static function single(array $config, string $connection): string
    {
        $config = self::parsed($config);
        $host = (string) ($config['host'] ?? '');
        $path = (string) ($config['path'] ?? '');
        if (($config['scheme'] ?? '') === 'unix' || str_starts_with($host, '/') || str_starts_with($host, 'unix://')) {
            return self::socket($path !== '' ? $path : preg_replace('#^unix://#', '', $host), $config);
        }
        if ($host === '') {
            throw new InvalidArgumentException("database.redis.$connection has no host: set the dsn of the queue connection");
        }

        return self::scheme($config, 'redis') . self::credentials($config) . self::address($config)
            . '/' . (int) ($config['database'] ?? 0) . self::query(self::files($config));
    }

    /** @param list<array<string, mixed>> $nodes */
    private static function cluster(array $nodes): string
    {
        $nodes = array_map(self::parsed(...), $nodes);

        return self::scheme($nodes[0], 'redis+cluster') . self::credentials($nodes[0])
            . implode(',', array_map(self::address(...), $nodes)) . self::query(self::files($nodes[0]));
    }

    /** @param array<string, mixed> $config */
    private static function socket(string $path, array $config): string
    {
        return 'redis+unix://' . self::credentials($config) . $path . self::query(['db' => (string) (int) ($config['database'] ?? 0)]);
    }

    /**
     * @param array<string, mixed> $config
     *
     * @return array<string, mixed>
     */
    private static function parsed(array $config): array
    {
        $parsed = (new ConfigurationUrlParser())->parseConfiguration($config);
        $driver = strtolower((string) ($parsed['driver'] ?? ''));

        return in_array($driver, ['tcp', 'tls', 'rediss'], true) ? ['scheme' => $driver] + $parsed : $parsed;
    }

    /** @param array<string, mixed> $config */
    private static function scheme(array $config, string $plain): string
    {
        $isTls = in_array($config['scheme'] ?? '', ['tls', 'rediss'], true) || preg_match('#^(tls|ssl|rediss)://#', (string) $config['host']) === 1;

        return ($isTls ? str_replace('redis', 'rediss', $plain) : $plain) . '://';
    }

    /** @param array<string, mixed> $config */
    private static function address(array $config): string
    {
        $host = (string) preg_replace('#^\w+://#', '', (string) $config['host']);
        $isIpv6 = str_contains($host, ':') && !str_starts_with($host, '[');

        return ($isIpv6 ? "[$host]" : $host) . ':' . (int) ($config['port'] ?? 6379);
    }

    /** @param array<string, mixed> $config */
    private static function credentials(array $config): string
    {
        // RedisManager treats '' and 'null' as no password.
        $password = (string) ($config['password'] ?? '');
        if ($password === '' || $password === 'null') {
            return '';
        }

        return rawurlencode((string) ($config['username'] ?? '')) . ':' . rawurlencode($password) . '@';
    }

    /**
     * @param array<string, mixed> $config
     *
     * @return array<string, string> the files of a TLS connection, from the options of phpredis or of Predis
     */
    private static function files(array $config): array
    {
        $tls = $config['context']['ssl'] ?? $config['context']['stream'] ?? $config['context'] ?? $config['ssl'] ?? [];
        $files = ['ca' => $tls['cafile'] ?? '', 'cert' => $tls['local_cert'] ?? '', 'key' => $tls['local_pk'] ?? ''];

        return array_filter(array_map(strval(...), $files), static fn (string $file): bool => $file !== '');
    }

    /** @param array<string, string> $parameters */
    private static function query(array $parameters): string
    {
        return $parameters === [] ? '' : '?' . http_build_query($parameters, '', '&', PHP_QUERY_RFC3986);
    }
}
