<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Cpu;
use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Numbers;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use RuntimeException;

/**
 * Pushes jobs to Redis and to a store in this process that hold so many ready ones, and takes as many. It goes from
 * store to store in small rounds, so that what else the machine does meets both.
 */
final class MemoryEngine implements Work
{
    private const ROUND = 50;

    public static function run(Peer $peer, Task $task): array
    {
        ini_set('delayqueue.testing', '1');
        $memory = new Endpoint($task->endpoint->pid, 0, dsn: 'memory://');
        $stores = ['Redis' => $peer, 'memory://' => Peers::connect($task->peer, $memory)];
        $result = $times = $cpu = [];
        foreach ($stores as $name => $store) {
            $began = hrtime(true);
            $store->push(Order::id(0), 0, Order::payload(0));
            $result["$name first_ms"] = (hrtime(true) - $began) / 1e6;
            $store->take();
            $store->fill($task->batch, 0, Order::BYTES);
        }
        $number = 1_000_000_000;
        for ($round = -2; $round < $task->count / self::ROUND; $round++) {
            foreach ($stores as $name => $store) {
                foreach (['push', 'take'] as $step) {
                    $before = self::cpuUs($task->endpoint->pid);
                    for ($job = 0; $job < self::ROUND; $job++) {
                        [$id, $payload] = [Order::id(++$number), Order::payload($number)];
                        $began = hrtime(true);
                        if ($step === 'push') {
                            $store->push($id, 0, $payload);
                        } else {
                            $store->take() ?? throw new RuntimeException('a ready job was not handed out');
                        }
                        $round < 0 ?: $times["$name $step"][] = hrtime(true) - $began;
                    }
                    $round < 0 ?: $cpu["$name $step"][] = (self::cpuUs($task->endpoint->pid) - $before) / self::ROUND;
                }
            }
        }
        foreach ($times as $name => $steps) {
            $result["{$name}_us"] = Numbers::median($steps) / 1000;
            $result["{$name}_cpu_us"] = Numbers::median($cpu[$name]);
        }

        return $result;
    }

    /** Of this process and the server; Redis does nothing while a store in memory works. */
    private static function cpuUs(int $pid): float
    {
        return Cpu::ownUs() + Cpu::ofProcessUs($pid);
    }
}
