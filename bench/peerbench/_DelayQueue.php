<?php

/**
 * The peerbench driver of this extension: producing with push() and pushMany(), consuming with consume().
 *
 * peerbench pulls jobs and consume() hands them out, so consume() runs in a Fiber that is suspended in the handler. Returning
 * from the handler acknowledges, and that acknowledgement rides with the next fetch: ack() has nothing left to do.
 */

declare(strict_types=1);

use DelayQueue\Job;

final class DelayQueueDriver implements PeerDriver
{
    private DelayQueue $queue;

    private ?Fiber $loop = null;

    public function __construct(private Env $env)
    {
        $dsn = $env->transport === 'unix' ? "redis+unix://$env->sock" : "redis://$env->host:$env->port";
        $this->queue = new DelayQueue($env->queue, $dsn, ['format' => 'raw', 'persistent' => $env->persistent]);
    }

    public function push(string $id, int $delayMs, string $payload): void
    {
        $this->queue->push($payload, $delayMs / 1000, $id);
    }

    public function pushMany(array $msgs): void
    {
        $jobs = [];
        foreach ($msgs as [$id, $delayMs, $payload]) {
            $jobs[] = ['payload' => $payload, 'delay' => $delayMs / 1000, 'id' => $id];
        }
        $this->queue->pushMany($jobs);
    }

    public function reserve(float $timeoutSec, int $max): array
    {
        // The loop's own waits are as long as the first one that the harness asks for.
        $this->loop ??= $this->start($timeoutSec, max($max, (int) ($this->env->opt['prefetch'] ?? 1)));
        $deadline = microtime(true) + $timeoutSec;
        $jobs = [];
        while (count($jobs) < $max) {
            $job = $this->loop->isStarted() ? $this->loop->resume($jobs === [] ? max(0.0, $deadline - microtime(true)) : 0.0)
                : $this->loop->start();
            if ($job === null) {
                break;
            }
            $jobs[] = [null, $job->body];
        }

        return $jobs;
    }

    public function ack(array $handles): void {}

    public function clear(): void
    {
        $this->queue->purge();
    }

    public function size(): int
    {
        return $this->queue->count();
    }

    public function prefill(int $n, int $delayMs): void
    {
        for ($i = 0; $i < $n; $i += 500) {
            $batch = [];
            for ($j = $i; $j < min($n, $i + 500); $j++) {
                $batch[] = ['pre-' . msg_id($j), $delayMs, payload($j)];
            }
            $this->pushMany($batch);
        }
    }

    public function __destruct()
    {
        if ($this->loop?->isSuspended()) {
            $this->queue->stop();
            $this->loop->resume(0.0);
        }
    }

    private function start(float $idle, int $prefetch): Fiber
    {
        $this->queue->on(DelayQueue\Event::Idle, static fn () => Fiber::suspend(null));

        return new Fiber(fn () => $this->queue->consume(
            static function (Job $job): void {
                Fiber::suspend($job);
            },
            idleTimeout: max($idle, 0.001),
            prefetch: $prefetch,
        ));
    }
}
