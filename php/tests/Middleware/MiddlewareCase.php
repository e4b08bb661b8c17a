<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use DelayQueue\Backoff;
use DelayQueue\QueueInterface;
use PHPUnit\Framework\TestCase;

/** Middleware does the same on a queue in memory and on Redis: each test runs on both. */
abstract class MiddlewareCase extends TestCase
{
    use BreakerRules;
    use PipelineRules;
    use RetryRules;

    /** Pushes jobs that come back after an hour when they fail. */
    private function push(QueueInterface $queue, string ...$ids): void
    {
        foreach ($ids as $id) {
            $queue->push(['task' => strtok($id, '-')], id: $id, maxAttempts: 3, backoff: Backoff::fixed('1h'));
        }
    }
}
