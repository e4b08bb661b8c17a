<?php

declare(strict_types=1);

namespace DelayQueue;

use DelayQueue;
use DelayQueue\InMemory\InMemoryQueue;
use DelayQueue\InMemory\Store;

/** Opens queues by a DSN that may also be memory://, for tests and for development without Redis. */
final class Queues
{
    private static ?Store $store = null;

    /**
     * A DelayQueue, or for memory:// an InMemoryQueue; those of one process see each other's jobs.
     *
     * @param string|null $dsn null: ini delayqueue.dsn, else the environment's DELAYQUEUE_DSN, else as DelayQueue says
     * @param array<string, mixed> $options as in the constructor of DelayQueue
     *
     * @throws \ValueError when a name, the DSN or an option is wrong
     * @throws \Error for memory:// without the ini setting delayqueue.testing=1
     */
    public static function open(string $queue = 'default', #[\SensitiveParameter] ?string $dsn = null, #[\SensitiveParameter] array $options = []): QueueInterface
    {
        $variable = 'DELAYQUEUE_DSN';
        $found = $dsn ?? ((string) ini_get('delayqueue.dsn') ?: getenv($variable) ?: ($_ENV[$variable] ?? '') ?: ($_SERVER[$variable] ?? ''));

        return $found === 'memory://'
            ? new InMemoryQueue($queue, $options, self::$store ??= new Store())
            : new DelayQueue($queue, $dsn, $options);
    }

    /** Forgets all jobs of memory://: for setUp() of tests. Queue objects that are there keep theirs. */
    public static function forgetMemory(): void
    {
        self::$store = null;
    }
}
