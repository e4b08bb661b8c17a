<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Meter;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use RuntimeException;

/** A worker on a full queue. The time of a job is that from the call of its handler to the next one's. */
final class Consume implements Work
{
    /** How long the first job may take. */
    private const PATIENCE_SECONDS = 20.0;

    public static function run(Peer $peer, Task $task): array
    {
        $task->waitForSignal();
        $meter = $firstMs = null;
        $started = hrtime(true);
        $peer->consume($task->count, static function (string $payload) use (&$meter, &$firstMs, $task, $started): bool {
            if ($meter === null) {
                if (!str_contains($payload, 'order.close')) {
                    throw new RuntimeException("not the payload that was pushed: $payload");
                }
                $firstMs = (hrtime(true) - $started) / 1e6;
                $meter = new Meter($task->endpoint->pid);

                return true;
            }
            $meter->step();

            return $meter->elapsed() < $task->seconds;
        }, $task->prefetch, $task->seconds + self::PATIENCE_SECONDS);
        if ($meter === null) {
            throw new RuntimeException('a full queue gave nothing');
        }

        return $meter->result() + ['first_ms' => $firstMs];
    }
}
