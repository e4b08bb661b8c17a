<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Meter;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use RuntimeException;

/**
 * Pushes to queues that differ in how many delayed jobs they hold already, and moves due jobs through them. It goes from queue to
 * queue in small rounds, so that what else the machine does meets all of them.
 */
final class Depth implements Work
{
    private const ROUND = 50;

    public static function run(Peer $peer, Task $task): array
    {
        $queues = [];
        foreach ([$task->endpoint, ...$task->others] as $endpoint) {
            $queues[] = [Peers::connect($task->peer, $endpoint), new Meter($endpoint->pid), new Meter($endpoint->pid)];
        }
        $rounds = intdiv($task->count, self::ROUND);
        // Numbers that no other run used: ids of waiting jobs must be new.
        $number = 1_000_000_000 + random_int(0, 1_000_000) * 1_000_000;
        for ($round = -1; $round < $rounds; $round++) {
            foreach ($queues as [$queue, $pushes, $cycles]) {
                for ($job = 0; $job < self::ROUND; $job++) {
                    $number++;
                    [$id, $delay, $payload] = [Order::id($number), $task->delayMs + $number % 60_000, Order::payload($number)];
                    $pushes->skip();
                    $queue->push($id, $delay, $payload);
                    $round < 0 ?: $pushes->step();
                }
                for ($job = 0; $job < self::ROUND; $job++) {
                    $number++;
                    [$id, $payload] = [Order::id($number), Order::payload($number)];
                    $cycles->skip();
                    $queue->push($id, 0, $payload);
                    $queue->take() ?? throw new RuntimeException('a due job was not handed out');
                    $round < 0 ?: $cycles->step();
                }
            }
        }
        $result = [];
        foreach ($queues as $at => [, $pushes, $cycles]) {
            $result["push_us_$at"] = $pushes->result()['p50_us'];
            $result["cycle_us_$at"] = $cycles->result()['p50_us'];
        }

        return $result;
    }
}
