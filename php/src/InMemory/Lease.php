<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\Job;
use WeakReference;

/** The hold on a job: the very object proves that it is still the job's. */
final class Lease
{
    /** keepAlive() and the loop keep it until then, for as long as the job object is there. */
    private int $keptUntilUs = 0;

    /** @var WeakReference<Job>|null */
    private ?WeakReference $job = null;

    /** @param bool $isBehind the job was leased after another one, by the same call */
    public function __construct(public int $deadlineUs, public readonly bool $isBehind)
    {
    }

    public function isOf(Job $job): void
    {
        $this->job = WeakReference::create($job);
    }

    public function keepUntil(?int $untilUs): void
    {
        $this->keptUntilUs = $untilUs ?? PHP_INT_MAX;
    }

    public function endsAtUs(): int
    {
        return $this->job?->get() === null ? $this->deadlineUs : max($this->deadlineUs, $this->keptUntilUs);
    }
}
