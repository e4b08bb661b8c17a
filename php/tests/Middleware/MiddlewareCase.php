<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use DelayQueue\Backoff;
use DelayQueue\QueueInterface;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;

/** Jobs for middleware. */
abstract class MiddlewareCase extends TestCase
{
    use OnAnyStore;

    /** Pushes jobs that come back after an hour when they fail. */
    protected function push(QueueInterface $queue, string ...$ids): void
    {
        foreach ($ids as $id) {
            $queue->push(['task' => strtok($id, '-')], id: $id, maxAttempts: 3, backoff: Backoff::fixed('1h'));
        }
    }
}
