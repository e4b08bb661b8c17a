<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Illuminate\Contracts\Config\Repository;
use Illuminate\Contracts\Queue\Factory;
use InvalidArgumentException;

/**
 * Finds the delayqueue connection, and passes every other call on to it.
 *
 * @mixin Queue
 */
final class Manager
{
    public function __construct(private readonly Factory $queues, private readonly Repository $config)
    {
    }

    /**
     * @param string|null $name null: the default connection if it is one of this driver, else the first that is
     *
     * @throws InvalidArgumentException when the connection is of another driver
     */
    public function connection(?string $name = null): Queue
    {
        $name ??= $this->first();
        $connection = $this->queues->connection($name);
        if (!$connection instanceof Queue) {
            throw new InvalidArgumentException("the queue connection [$name] is not of the driver delayqueue");
        }

        return $connection;
    }

    /** @param list<mixed> $arguments */
    public function __call(string $method, array $arguments): mixed
    {
        return $this->connection()->$method(...$arguments);
    }

    private function first(): string
    {
        $connections = (array) $this->config->get('queue.connections');
        $default = (string) $this->config->get('queue.default');
        foreach ([$default => $connections[$default] ?? []] + $connections as $name => $connection) {
            if (($connection['driver'] ?? null) === 'delayqueue') {
                return (string) $name;
            }
        }

        return 'delayqueue';
    }
}
