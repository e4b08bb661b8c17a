<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use Closure;
use DelayQueue\Internal\RedisClock;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use PHPUnit\Framework\Assert;

/**
 * Assertions about the jobs of any queue, as plain static calls: for tests that are no classes, and for assertions of one's own.
 *
 *     JobAssertions::delayed($queue, 'order-1', 900);
 *
 * A job is named by its id, described by a closure that gets a JobInfo and returns true for a match, or null: any job. The trait AssertsJobs
 * has the same as methods of a test case. Both need PHPUnit. With $group, only jobs of that group are meant.
 */
final class JobAssertions
{
    /** Delays are compared give or take so many seconds: a delay counts from the moment at which Redis gets the job, createdAt is before. */
    private const PRECISION = 0.5;

    /** In the queue, in whatever state, $times times (null: at least once). Acknowledged and cancelled jobs are gone. */
    public static function pushed(
        QueueInterface $queue,
        string|Closure|null $job = null,
        ?int $times = null,
        string $name = '',
        ?string $group = null,
    ): void {
        $found = self::find($queue, $job, State::cases(), $group);
        Assert::assertNotEmpty($found, self::miss($queue, $job, 'is not in the queue', $name, $group));
        if ($times !== null) {
            Assert::assertCount($times, $found, 'jobs as described' . ($name === '' ? '' : " in queue '$name'"));
        }
    }

    /** In the queue in no state. */
    public static function notPushed(QueueInterface $queue, string|Closure|null $job = null, string $name = '', ?string $group = null): void
    {
        $ids = array_map(static fn (JobInfo $info): string => $info->id, self::find($queue, $job, State::cases(), $group));
        Assert::assertSame([], $ids, 'jobs' . ($name === '' ? '' : " in queue '$name'") . ' that should not be there');
    }

    /** @param int|float|null $delay seconds between the push and the due time, give or take half a one; null: any */
    public static function delayed(
        QueueInterface $queue,
        string|Closure|null $job = null,
        int|float|null $delay = null,
        string $name = '',
        ?string $group = null,
    ): void {
        $found = self::find($queue, $job, [State::Delayed], $group);
        Assert::assertNotEmpty($found, self::miss($queue, $job, 'is not delayed', $name, $group));
        if ($delay !== null) {
            // Two clocks: a due time is Redis', createdAt is this host's.
            $ahead = RedisClock::ahead($queue) ?? 0.0;
            $delays = array_map(static fn (JobInfo $info): float => $info->dueAt - $info->createdAt - $ahead, $found);
            $fitting = array_filter($delays, static fn (float $found): bool => abs($found - $delay) < self::PRECISION);
            $real = implode(', ', array_map(static fn (float $delay): string => round($delay, 1) . ' s', array_slice($delays, 0, 10)));
            Assert::assertNotEmpty($fitting, self::miss($queue, $job, "is delayed by $real, not $delay s", $name, $group));
        }
    }

    public static function reserved(QueueInterface $queue, string|Closure|null $job = null, string $name = '', ?string $group = null): void
    {
        Assert::assertNotEmpty(self::find($queue, $job, [State::Reserved], $group), self::miss($queue, $job, 'is not reserved', $name, $group));
    }

    /** @param string|null $reason words that its last error contains; null: any */
    public static function buried(
        QueueInterface $queue,
        string|Closure|null $job = null,
        ?string $reason = null,
        string $name = '',
        ?string $group = null,
    ): void {
        $found = self::find($queue, $job, [State::Buried], $group);
        Assert::assertNotEmpty($found, self::miss($queue, $job, 'is not buried', $name, $group));
        if ($reason !== null) {
            $errors = array_map(static fn (JobInfo $info): string => $info->lastError ?? '', $found);
            Assert::assertStringContainsString($reason, implode("\n", $errors));
        }
    }

    /**
     * @param array<State> $states
     *
     * @return list<JobInfo>
     */
    private static function find(QueueInterface $queue, string|Closure|null $job, array $states, ?string $group = null): array
    {
        $matches = match (true) {
            $job === null => static fn (JobInfo $info): bool => true,
            is_string($job) => static fn (JobInfo $info): bool => $info->id === $job,
            default => $job,
        };
        $found = [];
        foreach ($states as $state) {
            for ($last = null; ($page = $queue->list($state, 0, 500, $last)) !== []; $last = end($page)) {
                $theirs = array_filter($page, static fn (JobInfo $info): bool => $group === null || $info->group === $group);
                array_push($found, ...array_values(array_filter($theirs, $matches)));
            }
        }

        return $found;
    }

    /** "job 'order-1' is not delayed. Queue 'default' has: ready order-1; buried order-2 of group 'acme'" */
    private static function miss(QueueInterface $queue, string|Closure|null $job, string $fault, string $name, ?string $group): string
    {
        $of = static fn (?string $group): string => $group === null ? '' : " of group '$group'";
        $wanted = match (true) {
            $job === null => 'a job',
            is_string($job) => "job '$job'",
            default => 'a job as described',
        };
        $present = array_map(
            static fn (JobInfo $info): string => "{$info->state->value} {$info->id}{$of($info->group)}",
            self::find($queue, null, State::cases()),
        );
        $where = $name === '' ? 'The queue' : "Queue '$name'";

        return "$wanted{$of($group)} $fault. $where has: " . (implode('; ', $present) ?: 'no jobs');
    }
}
