<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue\Job;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;

/** Handlers that tests of several places have in common. */
final class Handlers
{
    /** @return list<callable> each of which can be called with a job and its queue */
    public static function takingJobs(): array
    {
        $magic = new class () {
            public function __call(string $name, array $arguments): mixed
            {
                return null;
            }
        };

        return [
            static fn () => 1,
            static fn ($job) => 1,
            static fn (?JobInterface $job, ?QueueInterface $queue) => 1,
            static fn (Job|string $job, object $queue) => 1,
            static fn (JobInterface&Job $job) => 1,
            static fn (mixed ...$all) => 1,
            static fn ($job, \Countable $queue) => 1,
            static fn (Job $job, QueueInterface $queue, int $more = 1, string ...$others) => 1,
            [$magic, 'anything'],
            $magic->anything(...),
        ];
    }
}
