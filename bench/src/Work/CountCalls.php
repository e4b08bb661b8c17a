<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue;
use DelayQueue\Bench\Callgrind;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use DelayQueue\Job;

/** The instructions of the server for a job of each call: one job a call, and a hundred a push, as often as the task says. Keys are "call: jobs". */
final class CountCalls implements Work
{
    /** The first ones load scripts, and find sorted sets that are small, and so lists. */
    private const BEFORE = 140;

    private const HUNDRED = 100;

    private readonly Callgrind $callgrind;

    private int $number = 2_000_000_000;

    private function __construct(private readonly DelayQueue $queue, private readonly Task $task)
    {
        $this->callgrind = Callgrind::of($task->endpoint->pid);
    }

    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);

        return (new self($peer->queue, $task))->all();
    }

    /** @return array<string, float> */
    private function all(): array
    {
        $result = ['push: 1' => $this->push(1, []), 'push: 100' => $this->push(self::HUNDRED, [])];
        $jobs = [];
        $result['reserve: 1'] = $this->count(3 * ($this->task->count + self::BEFORE), function () use (&$jobs): void {
            $jobs[] = $this->queue->reserve();
        });
        $settle = static function (callable $how) use (&$jobs): callable {
            return static function () use (&$jobs, $how): void {
                $how(array_shift($jobs));
            };
        };
        $result['ack: 1'] = $this->count($this->task->count, $settle(static fn (Job $job) => $job->ack()));
        $result['fail: 1'] = $this->count($this->task->count, $settle(static fn (Job $job) => $job->fail('out of stock')));
        $result['release: 1'] = $this->count($this->task->count, $settle(static fn (Job $job) => $job->release('1h')));
        if ($this->task->groups === 0) {
            // Last, because from then on the queue has priorities.
            $result['push_any: 1'] = $this->push(1, ['priority' => 5]);
            $result['push_any: 100'] = $this->push(self::HUNDRED, ['priority' => 5]);
        }

        return $result;
    }

    /**
     * Pushes that are due in a quarter of an hour.
     *
     * @param array<string, mixed> $options
     */
    private function push(int $many, array $options): float
    {
        return $this->count(max(1, intdiv($this->task->count, $many === 1 ? 1 : 8)), function () use ($many, $options): void {
            $jobs = [];
            for ($n = 0; $n < $many; $n++) {
                $number = $this->number++;
                $group = $this->task->groups === 0 ? [] : ['group' => FillGroups::name($number * 7919 % $this->task->groups)];
                $jobs[] = ['payload' => Order::payload($number), 'delay' => 900, 'id' => Order::id($number)] + $group + $options;
            }
            $many === 1 ? $this->queue->push(...$jobs[0]) : $this->queue->pushMany($jobs);
        }, $many) / $many;
    }

    /** @param callable(): void $call */
    private function count(int $calls, callable $call, int $many = 1): float
    {
        for ($n = 0; $n < self::BEFORE; $n += $many) {
            $call();
        }

        return $this->callgrind->count(static function () use ($calls, $call): void {
            for ($n = 0; $n < $calls; $n++) {
                $call();
            }
        }) / $calls;
    }
}
