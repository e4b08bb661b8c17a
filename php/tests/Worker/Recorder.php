<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use Closure;
use DelayQueue\Job;
use Throwable;

/** A handler that does what it is told, and notes what happens to it. */
final class Recorder
{
    /** @var list<string> */
    public array $notes = [];

    /** @param Closure(Job): mixed $does */
    public function __construct(public Closure $does)
    {
    }

    public function handle(mixed ...$arguments): mixed
    {
        [$job] = array_values(array_filter($arguments, static fn (mixed $argument): bool => $argument instanceof Job));
        $this->notes[] = "attempt $job->attempts";

        return ($this->does)($job);
    }

    public function afterSucceeded(Job $job): void
    {
        $this->notes[] = "$job->id succeeded";
    }

    public function afterFailed(Job $job, Throwable $error): void
    {
        $this->notes[] = "$job->id failed: {$error->getMessage()}";
    }
}
