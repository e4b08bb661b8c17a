<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use DelayQueue\GroupLimits;
use RuntimeException;

/** Fills a queue of this extension with due jobs of groups, round by round. Where some groups are to be full, each may hold one job. */
final class FillGroups implements Work
{
    private const FOR_GOOD = '30d';

    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        if ($task->full !== null) {
            $peer->queue->limitGroups(limits: new GroupLimits(concurrency: 1));
        }
        self::push($peer, (int) $task->full, $task, 1_000_000_000, ['ttr' => self::FOR_GOOD]);
        for ($held = 0; $held < $task->full; $held += $more) {
            $more = count($peer->queue->reserveMany(min(500, $task->full - $held)));
            if ($more === 0) {
                throw new RuntimeException('a group gave nothing to hold');
            }
        }
        self::push($peer, $task->count, $task, 0, []);

        return ['jobs' => $task->count];
    }

    public static function name(int $group): string
    {
        return sprintf('tenant-%08d', $group);
    }

    /** @param array<string, mixed> $options */
    private static function push(DelayQueuePeer $peer, int $count, Task $task, int $number, array $options): void
    {
        for ($from = 0; $from < $count; $from += 500) {
            $jobs = [];
            for ($n = $from; $n < min($count, $from + 500); $n++) {
                $job = ['payload' => Order::payload($number + $n, $task->payloadBytes), 'id' => Order::id($number + $n)];
                $jobs[] = $job + ($task->groups > 0 ? ['group' => self::name($n % $task->groups)] : []) + $options;
            }
            $peer->queue->pushMany($jobs);
        }
    }
}
