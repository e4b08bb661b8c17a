<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use DelayQueue;
use DelayQueue\GroupLimits;
use DelayQueue\GroupStats;
use DelayQueue\Job;
use DelayQueue\RateLimited;
use DelayQueue\State;
use DelayQueue\Testing;
use ReflectionClass;

/** The calls of EveryCall about groups. */
trait GroupCalls
{
    /** @return array<string, callable(): void> */
    private function grouping(): array
    {
        $two = new DelayQueue('grouped', $this->dsn, ['readTimeout' => 20]);
        $two->pushMany([['payload' => 1, 'group' => 'a'], ['payload' => 2, 'group' => 'b', 'delay' => '1h']]);
        $limits = new GroupLimits(5, '100000/1s', 1000, 2);
        $unchecked = unserialize(str_replace('"weight";i:2', '"weight";i:0', serialize($limits)));

        return [
            'DelayQueue::push to a group' => function (): void {
                $id = $this->queue->push(['a' => 1], group: 'tenant');
                get_object_vars($this->queue->peek($id));
                get_object_vars($this->queue->reserve());
                $this->queue->cancel($id);
            },
            'DelayQueue::push to a group without a name' => self::fails(fn () => $this->queue->push(1, group: '')),
            'DelayQueue::pushMany to groups' => function (): void {
                $this->queue->pushMany([['payload' => 1, 'group' => 'a'], ['payload' => [2], 'group' => 'b', 'priority' => 3], ['payload' => 3, 'group' => 'a', 'delay' => 9]]);
                $this->queue->ackMany(...$this->queue->reserveMany(5));
                $this->queue->purge();
            },
            'DelayQueue::list of a group' => static fn () => [$two->list(State::Ready, group: 'a'), $two->list(State::Delayed, group: 'b')],
            'DelayQueue::list of buried jobs of a group' => self::fails(static fn () => $two->list(State::Buried, group: 'a')),
            'DelayQueue::pause of a group' => static fn () => [$two->pause('1s', 'a'), $two->isPaused('a'), $two->resume('a')],
            'DelayQueue::rateLimit' => static fn () => [$two->rateLimit('1s', 'a'), $two->rateLimit(0.001), $two->resume('a'), $two->resume()],
            'DelayQueue::limitGroups' => static function () use ($two, $limits): void {
                $two->limitGroups('a', $limits);
                $two->limitGroups(null, $limits);
                $two->limitGroups('a');
                $two->limitGroups();
            },
            'DelayQueue::limitGroups by what no constructor has checked' => self::fails(static fn () => $two->limitGroups('a', $unchecked)),
            'DelayQueue::limitGroups by what was not constructed' => self::fails(
                static fn () => $two->limitGroups('a', (new ReflectionClass(GroupLimits::class))->newInstanceWithoutConstructor()),
            ),
            'DelayQueue::limitQueue' => static fn () => [$two->limitQueue(5, '10/1m', 3), $two->limitQueue()],
            'DelayQueue::limitQueue of partitions' => self::fails(fn () => $this->offline->sibling('q', ['partitions' => 2])->limitQueue(1)),
            'DelayQueue::limits' => static function () use ($two, $limits): void {
                $two->limitGroups('limited', $limits);
                $two->limitGroups('7', new GroupLimits(ordered: true));
                array_map(get_object_vars(...), $two->limits()['groups']);
                $two->limitGroups('limited');
                $two->limitGroups('7');
            },
            'DelayQueue::groups' => static fn () => [$two->groups(), $two->groups(1, 'a')],
            'DelayQueue::groupStats' => static fn () => [get_object_vars($two->groupStats('a')), $two->groupStats('none')],
            'DelayQueue::cancelGroup' => function (): void {
                $this->queue->pushMany([['payload' => 1, 'group' => 'gone'], ['payload' => 2, 'group' => 'gone']]);
                $this->queue->reserve();
                $this->queue->cancelGroup('gone', true);
                $this->queue->cancelGroup('none');
            },
            'DelayQueue::consume and limit the rate' => function (): void {
                $this->held->push(1, id: 'first', group: 'a');
                $this->held->consume(static fn (Job $job) => throw new RateLimited('1ms', $job->group, 'busy'), maxJobs: 1);
                $this->held->cancel('first');
            },
            'DelayQueue\GroupLimits::__construct' => static fn () => [new GroupLimits(1, '5/1m', 3, 2, true), clone $limits, $limits == unserialize(serialize($limits))],
            'DelayQueue\GroupLimits::__construct gone wrong' => self::fails(static fn () => new GroupLimits(2, ordered: true)),
            'DelayQueue\GroupLimits::__construct twice' => self::fails(static fn () => $limits->__construct(1, '7/1m')),
            'DelayQueue\GroupStats::__construct' => self::fails(static fn () => new GroupStats()),
            'DelayQueue\RateLimited::__construct' => static fn () => new RateLimited('30s', 'bank', 'too many requests'),
            'DelayQueue\RateLimited::__construct gone wrong' => self::fails(static fn () => new RateLimited('30s', '')),
            'DelayQueue\Testing::groupStats' => static fn () => Testing::groupStats(1, 2, 3.5, 4, true),
        ];
    }
}
