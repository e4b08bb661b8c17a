<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue;
use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use DelayQueue\Event;

/**
 * A loop of `count` queues. Three stages, each with a job of the last queue: as it starts, while it is idle, and as its
 * connections are lost, which is up to the one who hears of each stage.
 */
final class FarAway implements Work
{
    private const STAGES = ['start', 'idle', 'killed'];

    public static function run(Peer $peer, Task $task): array
    {
        $names = array_map(static fn (int $number) => "q$number", range(1, $task->count));
        $queue = self::queue($names[0], $task->endpoint)->watch(...$names);
        $near = self::queue($names[$task->count - 1], $task->others[0], $task->endpoint->partitions);
        [$result, $stage, $begun] = [[], 0, 0.0];
        $begin = static function () use ($near, &$stage, &$begun): void {
            self::say(self::STAGES[$stage]);
            $begun = microtime(true);
            $near->push('job');
        };
        $queue->on(Event::WorkerReady, static function () use (&$result, &$begun): void {
            $result['ready_ms'] ??= 1000 * (microtime(true) - $begun);
        });
        $queue->on(Event::Idle, static function () use ($begin, &$stage, &$begun): void {
            if ($begun === 0.0 && $stage > 0) {
                $begin();
            }
        });
        $begin();
        $queue->consume(static function () use ($queue, &$result, &$stage, &$begun): void {
            $result[self::STAGES[$stage] . '_ms'] = 1000 * (microtime(true) - $begun);
            self::say(self::STAGES[$stage] . ' is over');
            [$begun, $stage] = [0.0, $stage + 1];
            if ($stage === count(self::STAGES)) {
                $queue->stop();
            }
        }, idleTimeout: 1, maxTime: 100);
        $begun = microtime(true);
        $queue->stats();

        return $result + ['stats_ms' => 1000 * (microtime(true) - $begun)];
    }

    private static function queue(string $name, Endpoint $endpoint, ?int $partitions = null): DelayQueue
    {
        $options = ['partitions' => $partitions ?? $endpoint->partitions, 'persistent' => false];

        return new DelayQueue($name, "redis://$endpoint->host:$endpoint->port", $options);
    }

    /** Says where it is, and waits until that was heard. */
    private static function say(string $what): void
    {
        echo "$what\n";
        fgets(STDIN);
    }
}
