<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\JobInfo;
use DelayQueue\State;
use DelayQueue\Testing;

/** One job of a queue: the job itself, where it is, and since or until when. */
final class Entry
{
    public ?Lease $lease = null;

    public bool $isBuried = false;

    /**
     * @param JobInfo $info all of it but its state; attempts are those that have ended
     * @param int $dueUs of a buried job, or one that was reserved while it was buried: since when
     */
    public function __construct(public JobInfo $info, public int $dueUs)
    {
    }

    public function state(int $nowUs): State
    {
        return match (true) {
            $this->lease !== null => State::Reserved,
            $this->isBuried => State::Buried,
            $this->dueUs <= $nowUs => State::Ready,
            default => State::Delayed,
        };
    }

    public function isWaiting(): bool
    {
        return $this->lease === null && !$this->isBuried;
    }

    public function isSpent(): bool
    {
        return $this->info->maxAttempts > 0 && $this->info->attempts >= $this->info->maxAttempts;
    }

    /** Leased alone, so that a job that kills its worker costs its neighbours little. */
    public function isAlone(): bool
    {
        return $this->info->timeouts > 0 || $this->info->maxAttempts > 0 && $this->info->attempts + 1 >= $this->info->maxAttempts;
    }

    /** @param array<string, mixed> $changes properties of JobInfo */
    public function change(array $changes): void
    {
        $this->info = Testing::jobInfo($changes, $this->info);
    }

    public function wait(int $dueUs): void
    {
        [$this->lease, $this->isBuried, $this->dueUs] = [null, false, $dueUs];
    }

    public function bury(string $reason, int $nowUs): void
    {
        [$this->lease, $this->isBuried, $this->dueUs] = [null, true, $nowUs];
        $this->change(['buries' => $this->info->buries + 1, 'lastError' => $reason === '' ? null : $reason]);
    }

    public function look(int $nowUs): JobInfo
    {
        return Testing::jobInfo([
            'state' => $this->state($nowUs),
            'attempts' => $this->info->attempts + ($this->lease === null ? 0 : 1),
            'dueAt' => $this->dueUs / 1_000_000,
            'leaseUntil' => $this->lease === null ? null : $this->lease->endsAtUs() / 1_000_000,
        ], $this->info);
    }
}
