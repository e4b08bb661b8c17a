<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;

/** A queue of which nobody has said how many partitions it has, because the command is about all queues. It needs no autoloader. */
final class WholeQueue
{
    /**
     * With as many partitions as the index of queues knows, or those of the options if they are more.
     *
     * @param non-empty-string $name
     * @param array<string, mixed> $options of DelayQueue, with its partitions
     */
    public static function open(string $name, #[\SensitiveParameter] ?string $dsn, #[\SensitiveParameter] array $options): DelayQueue
    {
        $partitions = max($options['partitions'], (new DelayQueue($name, $dsn, $options))->partitions());

        return new DelayQueue($name, $dsn, ['partitions' => $partitions] + $options);
    }
}
