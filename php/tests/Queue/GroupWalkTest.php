<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue\GroupLimits;
use DelayQueue\Job;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;
use DelayQueue\RateLimited;
use DelayQueue\State;

/**
 * A walk among jobs of groups, whose limits change on the way.
 *
 * @group verify
 * @group redis
 */
#[\PHPUnit\Framework\Attributes\Group('verify')]
#[\PHPUnit\Framework\Attributes\Group('redis')]
final class GroupWalkTest extends WalkCase
{
    private const IDS = ['a', 'b', 'c', 'd', 'e', '7', 'g', 'h'];

    private const GROUPS = ['x', 'y', '10'];

    protected function steps(): array
    {
        $id = $this->one(self::IDS);
        $group = $this->one(self::GROUPS);
        $other = $this->one([...self::GROUPS, null]);
        $number = $this->one([1, 2, 3]);
        $delay = $this->one([0, 0, 500, 1500]);
        $priority = $this->one([1024, 1024, 5, 2000]);
        $rule = $this->one(OnDuplicate::cases());
        $flag = $this->one([true, false]);
        $state = $this->one([State::Ready, State::Delayed, State::Reserved]);
        // No multiple of the interval that comes up here is near one of the moments to which the walk travels.
        $limits = $this->one([
            new GroupLimits(concurrency: $number), new GroupLimits(ordered: true), new GroupLimits(rate: '1/1300s'),
            new GroupLimits(concurrency: 2, rate: '2/2600s'), new GroupLimits(weight: 2), new GroupLimits(2, weight: 3), null,
        ]);
        $told = $limits === null ? 'none' : implode(' ', array_map(static fn ($value): string => json_encode($value), get_object_vars($limits)));

        return [
            "push $id of $other in $delay s at $priority, $rule->value" => static fn ($q) => $q->push($number, $delay, $id, $priority, onDuplicate: $rule, group: $other),
            "push $id of $group with one attempt" => static fn ($q) => $q->push($number, id: $id, maxAttempts: $number, onDuplicate: $rule, group: $group),
            "push $id of $group, to be started" => static fn ($q) => $q->push($number, $delay, $id, onDuplicate: $rule, expires: 1750 * $number, group: $group),
            "push $id of $group, tried for a while" => static fn ($q) => $q->push($number, $delay, $id, onDuplicate: $rule, retryUntil: 2250 * $number, group: $group),
            "push three of $group" => static fn ($q) => $q->pushMany([['payload' => 1, 'id' => $id, 'group' => $other, 'onDuplicate' => $rule], ['payload' => 2, 'id' => "u$number", 'group' => $group, 'onDuplicate' => $rule], ['payload' => 3, 'id' => "v$number", 'delay' => $delay, 'group' => $group, 'onDuplicate' => $rule]]),
            'reserve one' => static function ($q, &$held) {
                array_push($held, ...$jobs = array_filter([$q->reserve()]));

                return self::told($jobs);
            },
            "reserve $number" => static function ($q, &$held) use ($number) {
                array_push($held, ...$jobs = $q->reserveMany(2 * $number));

                return self::told($jobs);
            },
            'ack' => self::first(static fn (Job $job) => $job->ack()),
            'fail' => self::first(static fn (Job $job) => $job->fail()),
            "release in $delay s" => self::first(static fn (Job $job) => $job->release($delay, $flag ? $number : null, $flag)),
            'bury' => self::first(static fn (Job $job) => $job->bury()),
            'ack all in hand' => static function ($q, &$held) {
                [$jobs, $held] = [$held, []];

                return $q->ackMany(...$jobs);
            },
            "reserve job $id" => static function ($q, &$held) use ($id) {
                array_push($held, ...$jobs = array_filter([$q->reserveJob($id)]));

                return self::told($jobs);
            },
            "limit $group to $told" => static fn ($q) => $q->limitGroups($group, $limits),
            "limit all others to $told" => static fn ($q) => $q->limitGroups(null, $limits),
            'limit the queue' => static fn ($q) => $q->limitQueue($flag ? 2 + $number : null, $number === 1 ? '3/3900s' : null),
            "rate-limit $other" => static fn ($q) => $q->rateLimit(750 * $number, $other),
            "pause $other" => static fn ($q) => $q->pause($flag ? 750 * $number : null, $other),
            "resume $other" => static fn ($q) => $q->resume($other),
            "resume $group" => static fn ($q) => $q->resume($group),
            'resume' => static fn ($q) => $q->resume(),
            "cancel group $group" => static fn ($q) => $number === 1 ? $q->cancelGroup($group, $flag) : null,
            "cancel $id" => static fn ($q) => $q->cancel($id, "u$number"),
            "reschedule $id in $delay s" => static fn ($q) => $q->reschedule($id, $delay),
            "kick job $id" => static fn ($q) => $q->kickJob($id, $flag),
            "kick $number" => static fn ($q) => $q->kick($number),
            "purge $state->value" => static fn ($q) => $number === 1 ? $q->purge($state) : null,
            'consume as of old' => static fn ($q) => $number === 1 ? $q->consumer(limit: 1) : null,
            'wait' => static fn ($q) => $q->wait(0),
            "drain $number" => static fn ($q) => $q->drain(static fn (Job $job) => $flag ? throw new RateLimited(750, $other) : null, 1),
        ];
    }

    protected static function more(QueueInterface $queue): array
    {
        $values = static fn (?GroupLimits $limits): ?array => $limits === null ? null : get_object_vars($limits);
        ['queue' => $whole, 'others' => $others, 'groups' => $groups] = $queue->limits();
        $facts = ['groups' => $queue->groups(), 'limits' => [$values($whole), $values($others), array_map($values, $groups)]];
        foreach (self::GROUPS as $group) {
            $stats = $queue->groupStats($group);
            $facts["group $group"] = [$stats->waiting, $stats->reserved, $stats->closedUntil === null, $stats->paused];
            foreach ([State::Delayed, State::Ready, State::Reserved] as $state) {
                $facts["$state->value of $group"] = array_map(static fn ($info): string => $info->id, $queue->list($state, group: $group));
            }
        }

        return $facts;
    }
}
