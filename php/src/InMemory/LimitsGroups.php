<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DateInterval;
use DateTimeImmutable;
use DelayQueue\GroupLimits;
use DelayQueue\GroupStats;
use DelayQueue\Job;
use DelayQueue\JobInfo;
use DelayQueue\RateLimited;
use DelayQueue\State;
use DelayQueue\Testing;
use ValueError;

/**
 * Limits and pauses of an InMemoryQueue and of its groups, and the numbers of a group.
 *
 * @internal
 */
trait LimitsGroups
{
    public function limitGroups(?string $group = null, ?GroupLimits $limits = null): void
    {
        $this->jobs->limit($this->groupName($group, 'limitGroups', 1), $limits);
    }

    public function limitQueue(?int $concurrency = null, ?string $rate = null, ?int $burst = null): void
    {
        try {
            $limits = $concurrency === null && $rate === null && $burst === null ? null : new GroupLimits($concurrency, $rate, $burst);
        } catch (ValueError $error) {
            throw new ValueError(str_replace(GroupLimits::class . '::__construct', self::class . '::limitQueue', $error->getMessage()));
        }
        if ($limits !== null && $this->arguments->like->prepare('')->partitions > 1) {
            $why = 'each is served by itself, and does not know how many jobs of the others run';
            throw new ValueError(self::class . "::limitQueue(): a queue of several partitions cannot be limited as a whole: $why");
        }
        $this->jobs->gates->limit(Gates::QUEUE, $limits);
    }

    public function limits(): array
    {
        return $this->jobs->gates->limits();
    }

    public function rateLimit(int|float|string|DateInterval $for, ?string $group = null): void
    {
        $name = $this->groupName($group, 'rateLimit', 2) ?? Gates::QUEUE;
        $nowUs = $this->store->nowUs();
        $untilUs = $nowUs + $this->arguments->us($for, 'rateLimit', 'Argument #1 ($for)');
        $this->jobs->gates->close($name, max($untilUs, $this->jobs->gates->closedUntilUs($name, $nowUs) ?? 0));
    }

    public function pause(int|float|string|DateInterval|null $for = null, ?string $group = null): void
    {
        $name = $this->groupName($group, 'pause', 2) ?? Gates::QUEUE;
        $untilUs = $for === null ? Gates::NEVER : $this->store->nowUs() + $this->arguments->us($for, 'pause', 'Argument #1 ($for)');
        $this->jobs->gates->close($name, $untilUs);
        if ($group !== null) {
            $this->jobs->line->come($group, $for === null ? $this->store->nowUs() : $untilUs);
        }
    }

    public function resume(?string $group = null): void
    {
        $this->jobs->gates->open($this->groupName($group, 'resume', 1) ?? Gates::QUEUE);
        if ($group !== null) {
            $this->jobs->line->come($group, $this->store->nowUs());
        }
    }

    public function isPaused(?string $group = null): bool
    {
        $name = $this->groupName($group, 'isPaused', 1) ?? Gates::QUEUE;

        return $this->jobs->gates->closedUntilUs($name, $this->store->nowUs()) !== null;
    }

    public function cancelGroup(string $group, bool $reserved = false): int
    {
        $this->groupName($group, 'cancelGroup', 1);
        $this->jobs->reclaim();
        $found = array_filter($this->jobs->ofGroup($group), static fn (Entry $entry): bool => $reserved || $entry->lease === null);
        $this->jobs->removeAll($found);

        return count($found);
    }

    public function groupStats(string $group): GroupStats
    {
        $this->groupName($group, 'groupStats', 1);
        $this->jobs->reclaim();
        $nowUs = $this->store->nowUs();
        $found = $this->jobs->group($group, $nowUs);
        $closedUs = $this->jobs->gates->closedUntilUs($group, $nowUs);
        $hasTurn = $found->waiting > 0 && $closedUs !== Gates::NEVER;
        $turnUs = $hasTurn ? $this->jobs->line->momentUs($group) : null;

        return Testing::groupStats(
            $found->waiting,
            $found->held,
            $turnUs === null ? null : max($turnUs, $closedUs ?? 0) / 1_000_000,
            $closedUs === null || $closedUs === Gates::NEVER ? null : $closedUs / 1_000_000,
            $closedUs !== null,
        );
    }

    public function groups(int $limit = 100, string $after = ''): array
    {
        $this->arguments->atLeast(1, $limit, 'groups', 'Argument #1 ($limit)');
        $behind = array_filter($this->jobs->groups(), static fn (string $group): bool => strcmp($group, $after) > 0);

        return array_slice($behind, 0, $limit);
    }

    /** @internal for the loop: what the limit names is closed, and the job goes back to its old place */
    public function giveBack(RateLimited $limit, Job $job): void
    {
        $this->sibling($job->queue)->rateLimit($limit->delay, $limit->group ?? $job->group);
        $job->release(DateTimeImmutable::createFromFormat('U.u', sprintf('%.6F', $job->dueAt)), countAttempt: false);
    }

    /** @return list<Entry> its jobs of this state, in the order of the group; held ones in that of their ids */
    private function ofGroup(string $group, State $state, JobInfo|string|null $after): array
    {
        $this->groupName($group, 'list', 5);
        if ($after !== null) {
            throw Arguments::error('list', 'Argument #4 ($after)', 'must be null when argument #5 ($group) is given');
        }
        if ($state === State::Buried) {
            throw Arguments::error('list', 'Argument #5 ($group)', "must be null for State::Buried: a group does not know its buried jobs");
        }

        $theirs = array_filter($this->jobs->having($state), static fn (Entry $entry): bool => $entry->info->group === $group);
        if ($state === State::Reserved) {
            usort($theirs, static fn (Entry $a, Entry $b): int => strcmp($a->info->id, $b->info->id));

            return $theirs;
        }
        $found = [];
        for ($order = new InOrder($theirs); ($entry = $order->take()) !== null;) {
            $found[] = $entry;
        }

        return $found;
    }

    private function groupName(?string $group, string $method, int $number): ?string
    {
        return $group === null ? null : $this->arguments->id($group, $method, "Argument #$number (\$group)");
    }
}
