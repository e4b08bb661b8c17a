<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Illuminate\Contracts\Config\Repository;
use Illuminate\Queue\Connectors\ConnectorInterface;

/** Makes a {@see Queue} of a connection in config/queue.php. */
final class Connector implements ConnectorInterface
{
    /** Serialized models and closures are larger than what the extension takes by default. */
    private const MAX_PAYLOAD = 16 * 1024 * 1024;

    public function __construct(private readonly Repository $config)
    {
    }

    /** @param array<string, mixed> $config with the keys of connection.php, all but driver optional */
    public function connect(array $config): Queue
    {
        return new Queue(new Natives($this->dsn($config), $this->options($config)), Settings::of($config));
    }

    /** @param array<string, mixed> $config */
    private function dsn(array $config): string
    {
        $dsn = (string) ($config['dsn'] ?? '');

        return $dsn !== '' ? $dsn : Dsn::of((array) $this->config->get('database.redis'), (string) ($config['connection'] ?? 'default'));
    }

    /**
     * @param array<string, mixed> $config
     *
     * @return array<string, mixed>
     */
    private function options(array $config): array
    {
        $options = [
            'prefix' => Prefix::of($config, (array) $this->config->get('database.redis')),
            'ttr' => Settings::of($config)->retryAfter,
            // Laravel counts the tries, and buries nothing.
            'maxAttempts' => 0,
            // The bytes of Laravel's JSON stay as they are.
            'format' => 'raw',
            'maxPayload' => self::MAX_PAYLOAD,
        ];
        if (isset($config['priority'])) {
            $options['priority'] = (int) $config['priority'];
        }

        return ($config['options'] ?? []) + $options;
    }
}
