<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue;

/** The extension's objects of one queue connection, made on first use. They share one connection to Redis. */
final class Natives
{
    /** @var array<string, DelayQueue> */
    private array $made = [];

    /**
     * @param string|null $dsn null: as the extension finds it
     * @param array<string, mixed> $options of its constructor
     */
    public function __construct(#[\SensitiveParameter] private readonly ?string $dsn, #[\SensitiveParameter] private readonly array $options)
    {
    }

    /** The object that serves these queues of Laravel, the first one first; it pushes to the first. */
    public function of(string $queue, string ...$others): DelayQueue
    {
        TestTime::follow();

        return $this->made[implode(',', [$queue, ...$others])] ??= $this->make($queue, ...$others);
    }

    /** By its name in Redis, as rows of an outbox have it. */
    public function named(string $queue): DelayQueue
    {
        TestTime::follow();

        return $this->made[" $queue"] ??= new DelayQueue($queue, $this->dsn, $this->options);
    }

    /** A new object, for a worker that adds listeners to it. */
    public function make(string $queue, string ...$others): DelayQueue
    {
        $names = array_values(array_unique(array_map(QueueName::encode(...), [$queue, ...$others])));
        $native = new DelayQueue($names[0], $this->dsn, $this->options);

        return count($names) > 1 ? $native->watch(...$names) : $native;
    }
}
