<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Definition;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Runner;
use DelayQueue\Schedule\State;

/**
 * One runner and the first moment of each schedule: spread over some seconds, or, where it is told 0 seconds, all of them at a full minute that is over
 * when the runner begins. A job is late by the time from its moment, or from that beginning, until it is pushed and its schedule is back.
 */
final class RunSchedules implements Work
{
    /** Seconds until the first one is due: the runner waits by then. */
    private const LEAD = 1.0;

    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        $queue = $peer->queue->sibling('schedules', ['format' => 'json']);
        $task->seconds > 0 ? self::spread($queue, $task) : self::wave($queue, $task);
        $late = [];
        $runner = new Runner($queue);
        $cpu = self::cpu();
        $begun = microtime(true);
        $queue->consume(static function (JobInterface $job, QueueInterface $queue) use ($runner, $task, $begun, &$late): mixed {
            $result = $runner($job, $queue);
            $late[] = 1000 * (microtime(true) - max($job->dueAt, $begun));
            if (count($late) === $task->count) {
                $queue->stop();
            }

            return $result;
        }, prefetch: Runner::PREFETCH, maxTime: $task->seconds + 300);

        return [
            'late_ms' => $late,
            'wave_s' => microtime(true) - $begun,
            'cpu_us' => 1e6 * (self::cpu() - $cpu) / $task->count,
            'pushed' => $queue->sibling('target')->count(),
        ];
    }

    private static function spread(QueueInterface $queue, Task $task): void
    {
        $definition = new Definition(Every::interval('60s'), 'target', Order::payload(0, $task->payloadBytes));
        // They are filled in before the first one is due.
        $start = $queue->now() + self::LEAD + $task->count / 10_000;
        self::push($queue, $definition, $task->count, static fn (int $number): float => round($start + $task->seconds * $number / $task->count, 3));
    }

    private static function wave(QueueInterface $queue, Task $task): void
    {
        $definition = new Definition(Cron::parse('* * * * *', 'Europe/Berlin'), 'target', Order::payload(0, $task->payloadBytes));
        $minute = floor($queue->now() / 60) * 60;
        self::push($queue, $definition, $task->count, static fn (): float => $minute);
    }

    /** As Schedules::set() stores them. */
    private static function push(QueueInterface $queue, Definition $definition, int $count, callable $due): void
    {
        for ($from = 0; $from < $count; $from += 500) {
            $jobs = [];
            for ($number = $from; $number < min($count, $from + 500); $number++) {
                $state = $definition->when instanceof Every ? new State($due($number) - $definition->when->seconds()) : new State();
                $jobs[] = [
                    'payload' => $definition->toArray(), 'id' => "shop-$number", 'delay' => Moment::of($due($number)), 'ttr' => 30, 'maxAttempts' => 0,
                    'headers' => $state->headers(),
                ];
            }
            $queue->pushMany($jobs);
        }
    }

    private static function cpu(): float
    {
        $used = getrusage() ?: [];

        return $used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec'] + ($used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']) / 1e6;
    }
}
