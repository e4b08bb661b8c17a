<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Peers;

use DelayQueue;
use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Traits;
use DelayQueue\Job;

/** This extension: push(), pushMany(), reserve() with ack(), consume(). */
final class DelayQueuePeer implements Peer
{
    public readonly DelayQueue $queue;

    public static function traits(): Traits
    {
        return new Traits('this extension', batches: true, persists: true);
    }

    public function __construct(Endpoint $endpoint)
    {
        // Patient, because Redis may run under valgrind. Raw, because no other peer decodes the payload either.
        $options = ['format' => 'raw', 'persistent' => $endpoint->persistent, 'connectTimeout' => 20, 'readTimeout' => 60];
        $dsn = $endpoint->dsn ?? ($endpoint->cluster === null
            ? "redis://$endpoint->host:$endpoint->port"
            : "redis+cluster://$endpoint->cluster");
        $this->queue = new DelayQueue($endpoint->queue, $dsn, $options + ['partitions' => $endpoint->partitions]);
    }

    public function push(string $id, int $delayMs, string $payload): void
    {
        $this->queue->push($payload, $delayMs / 1000, $id);
    }

    public function pushMany(array $jobs): void
    {
        $list = [];
        foreach ($jobs as [$id, $delayMs, $payload]) {
            $list[] = ['payload' => $payload, 'delay' => $delayMs / 1000, 'id' => $id];
        }
        $this->queue->pushMany($list);
    }

    public function take(): ?string
    {
        $job = $this->queue->reserve();
        $job?->ack();

        return $job?->body;
    }

    public function consume(int $count, callable $onJob, int $prefetch, float $seconds): void
    {
        $this->queue->consume(
            static function (Job $job, DelayQueue $queue) use ($onJob): void {
                if (!$onJob($job->body)) {
                    $queue->stop();
                }
            },
            maxJobs: $count,
            maxTime: $seconds,
            prefetch: $prefetch,
        );
    }

    public function fill(int $count, int $delayMs, int $payloadBytes): void
    {
        for ($from = 0; $from < $count; $from += 500) {
            $jobs = [];
            for ($number = $from; $number < min($count, $from + 500); $number++) {
                $jobs[] = [Order::id($number), Order::delayMs($number, $delayMs), Order::payload($number, $payloadBytes)];
            }
            $this->pushMany($jobs);
        }
    }
}
