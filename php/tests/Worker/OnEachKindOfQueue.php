<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use Closure;
use DelayQueue;
use DelayQueue\QueueInterface;
use DelayQueue\Tests\OnAnyStore;

/** Queues of every kind, on which a helper of handlers has to work. */
trait OnEachKindOfQueue
{
    use OnAnyStore;

    /** @return array<string, array{Closure(array<string, mixed>): QueueInterface}> */
    public static function queues(): array
    {
        $kinds = ['Redis' => [], 'partitions' => ['partitions' => 4], 'sealed' => ['keys' => ['k' => str_repeat('k', 32)]], 'a prefix' => ['prefix' => 'other']];
        $open = static fn (array $kind): array => [static fn (array $options = []): QueueInterface => new DelayQueue('orders', null, $options + $kind)];

        return array_map($open, $kinds);
    }
}
