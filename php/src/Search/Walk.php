<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use DelayQueue\Dump\JobPages;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\SealException;
use DelayQueue\State;

/**
 * One pass of a search over the jobs of a queue, in the memory of a page of them.
 *
 * @internal
 */
final class Walk
{
    private const PAGE = 200;

    /** How many jobs it has read. */
    public int $read = 0;

    /** How many jobs it has found that were left as they are. */
    public int $skipped = 0;

    /** Whether it has met all jobs that there are. */
    public bool $hasEnded = false;

    private int $found = 0;

    /** How many jobs it has read, with those that have come by before. */
    private int $met = 0;

    /** The last job that it is done with. */
    private ?JobInfo $last = null;

    private readonly int $partitions;

    private readonly bool $hasKeys;

    /**
     * @param list<State> $states in their order
     * @param Position $from in one of these states
     */
    public function __construct(
        private readonly QueueInterface $queue,
        private readonly array $states,
        private readonly Criteria $criteria,
        private readonly ?int $limit,
        private readonly ?int $reading,
        private readonly Position $from,
    ) {
        $settings = $queue->settings();
        [$this->partitions, $this->hasKeys] = [$settings->partitions, $settings->isSealed];
    }

    /** @return iterable<int, JobInfo> */
    public function jobs(): iterable
    {
        foreach ($this->all() as $page) {
            foreach ($page as $job) {
                $isFound = $this->isFound($job);
                $this->last = $job;
                if ($isFound) {
                    yield $job;
                }
                if ($this->isFull()) {
                    return;
                }
            }
        }
        $this->hasEnded = true;
    }

    /** The place behind which another pass goes on; '' is the beginning. A page whose change has failed comes again. */
    public function place(): string
    {
        return $this->last?->place() ?? $this->from->place;
    }

    public function hasFound(?int $limit): bool
    {
        return $this->found === $limit;
    }

    /** Whether it has found as many jobs as it may, or has read as many. */
    private function isFull(): bool
    {
        return $this->found === $this->limit || $this->met === $this->reading;
    }

    /**
     * @param callable(list<JobInfo>): int $act on those of a page; how many are done
     * @param (callable(int, int): void)|null $progress
     *
     * @return int how many are done
     */
    public function each(callable $act, ?callable $progress = null): int
    {
        $done = 0;
        foreach ($this->pages() as $jobs) {
            $now = $act($jobs);
            $done += $now;
            $this->skipped += count($jobs) - $now;
            $progress === null || $progress($done, $this->read);
        }

        return $done;
    }

    /**
     * @param callable(JobInfo): ?bool $act whether it is done; null: it has come by before, and does not count
     * @param (callable(int, int): void)|null $progress
     *
     * @return int how many are done
     */
    public function eachOne(callable $act, ?callable $progress = null): int
    {
        return $this->each(function (array $jobs) use ($act): int {
            $answers = array_map($act, $jobs);
            $again = count(array_keys($answers, null, true));
            $this->read -= $again;
            $this->skipped -= $again;
            $this->found -= $again;

            return count(array_filter($answers));
        }, $progress);
    }

    /** @return iterable<int, list<JobInfo>> those of each page that are found, maybe none */
    private function pages(): iterable
    {
        foreach ($this->all() as $page) {
            // Where some of those that are found do not count, a page goes on behind the limit.
            for ($at = 0; $at < count($page);) {
                $found = [];
                while ($at < count($page) && !$this->isFull()) {
                    $job = $page[$at++];
                    if ($this->isFound($job)) {
                        $found[] = $job;
                    }
                }
                yield $found;
                $this->last = $page[$at - 1];
                if ($this->isFull()) {
                    return;
                }
            }
        }
        $this->hasEnded = true;
    }

    /** @throws SealException when the queue object lacks the keys to look */
    private function isFound(JobInfo $job): bool
    {
        if ($job->seal !== null && $job->sealError !== null && !$this->hasKeys && $this->criteria->lookInside()) {
            throw new SealException("queue $job->queue needs keys: job '$job->id' is sealed");
        }
        ++$this->read;
        ++$this->met;
        $isFound = $this->criteria->match($job);
        $this->found += $isFound ? 1 : 0;

        return $isFound;
    }

    /** @return iterable<int, non-empty-list<JobInfo>> */
    private function all(): iterable
    {
        $pages = new JobPages($this->queue, min(self::PAGE, $this->reading ?? self::PAGE));
        $first = $this->from->state();
        foreach (array_slice($this->states, (int) array_search($first, $this->states, true)) as $state) {
            $after = $state === $first ? $this->from->place : $this->lastBefore($state);
            foreach ($pages->pages($state, $after) as $page) {
                yield $page;
                if ($this->isBehind($state, end($page))) {
                    break;
                }
            }
        }
    }

    /** Delayed and buried jobs are in the order of their times, those of each partition for themselves. */
    private function isBehind(State $state, JobInfo $job): bool
    {
        return in_array($state, [State::Delayed, State::Buried], true) && $this->partitions === 1
            && $this->criteria->until !== null && $job->dueAt >= $this->criteria->until;
    }

    /** The last delayed job that is due too early, or one before it, so that the walk can begin there. */
    private function lastBefore(State $state): ?JobInfo
    {
        if ($state !== State::Delayed || $this->partitions !== 1 || $this->criteria->from === null) {
            return null;
        }
        [$ready, $before] = $this->queue->countDue(Moment::of($this->queue->now()), Moment::of($this->criteria->from));
        // Jobs that fall due, come or go between two calls move the others.
        for ($number = $before - $ready; $number > 0; $number = intdiv($number, 2)) {
            $job = $this->queue->list(State::Delayed, $number - 1, 1)[0] ?? null;
            if ($job !== null && $job->dueAt < $this->criteria->from) {
                return $job;
            }
        }

        return null;
    }
}
