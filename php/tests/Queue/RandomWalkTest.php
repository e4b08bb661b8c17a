<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue\Job;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\State;

/**
 * A walk among all that may be done with jobs without a group.
 *
 * @group verify
 * @group redis
 */
#[\PHPUnit\Framework\Attributes\Group('verify')]
#[\PHPUnit\Framework\Attributes\Group('redis')]
final class RandomWalkTest extends WalkCase
{
    private const IDS = ['a', 'b', 'c', 'd', 'e', '7'];

    protected function steps(): array
    {
        $id = $this->one(self::IDS);
        $number = $this->one([1, 2, 3]);
        $delay = $this->one([0, 500, 1500, 3500]);
        $priority = $this->one([1024, 1024, 1024, 5, 2000]);
        $rule = $this->one(OnDuplicate::cases());
        $flag = $this->one([true, false]);
        $state = $this->one(State::cases());

        return [
            "push $id in $delay s at $priority, $rule->value" => static fn ($q) => $q->push([$id => $number], $delay, $id, $priority, onDuplicate: $rule),
            "push $id with one attempt" => static fn ($q) => $q->push($number, id: $id, maxAttempts: 1, onDuplicate: $rule, headers: ['n' => "$number"]),
            "push $id, to be started" => static fn ($q) => $q->push($number, $delay, $id, $priority, onDuplicate: $rule, expires: 750 * $number, onExpiry: $flag ? OnExpiry::Bury : OnExpiry::Drop),
            "push $id, tried for a while" => static fn ($q) => $q->push($number, $delay, $id, $priority, onDuplicate: $rule, retryUntil: 1250 * $number),
            "push three, $rule->value" => static fn ($q) => $q->pushMany([['payload' => 1, 'id' => $id, 'onDuplicate' => $rule], ['payload' => 2, 'id' => "x$number", 'onDuplicate' => $rule], ['payload' => 3, 'id' => "y$number", 'delay' => $delay, 'onDuplicate' => $rule]]),
            "reserve $number" => static function ($q, &$held) use ($number) {
                array_push($held, ...$jobs = $q->reserveMany($number));

                return self::told($jobs);
            },
            "reserve job $id" => static function ($q, &$held) use ($id) {
                array_push($held, ...$jobs = array_filter([$q->reserveJob($id)]));

                return self::told($jobs);
            },
            'ack' => self::first(static fn (Job $job) => $job->ack()),
            "release in $delay s" => self::first(static fn (Job $job) => $job->release($delay, $number === 1 ? $number : null, $flag)),
            'fail' => self::first(static fn (Job $job) => $job->fail($flag ? "reason $number" : null)),
            'bury' => self::first(static fn (Job $job) => $job->bury("buried $number")),
            'touch' => self::first(static fn (Job $job) => is_float($job->touch(4500))),
            'update in hand' => self::first(static fn (Job $job) => $job->update(["updated $number"], $flag ? ['u' => "$number"] : null)),
            'ack all in hand' => static function ($q, &$held) {
                [$jobs, $held] = [$held, []];

                return $q->ackMany(...$jobs);
            },
            "cancel $id" => static fn ($q) => $q->cancel($id, "x$number"),
            "reschedule $id in $delay s" => static fn ($q) => $q->reschedule($id, $delay),
            "update $id" => static fn ($q) => $q->update($id, "new $number", $flag ? [] : null),
            "kick $number" => static fn ($q) => $q->kick($number, $flag),
            "kick job $id" => static fn ($q) => $q->kickJob($id, $flag),
            'pause' => static fn ($q) => $number === 1 ? $q->pause($flag ? 1500 : null) : $q->resume(),
            "purge $state->value" => static fn ($q) => $number === 1 ? $q->purge($state) : null,
            'forget' => static fn ($q) => $q->forget(),
            "push $id for some time, $rule->value" => static fn ($q) => $q->push($number, $delay, $id, $priority, onDuplicate: $rule, unique: 1250 * $number),
            "try to push $id, $rule->value" => static fn ($q) => $q->tryPush($number, $delay, $id, onDuplicate: $rule, unique: $flag ? 1250 * $number : null),
            "push $id once" => static fn ($q) => get_object_vars($q->pushOnce([
                ['receipt' => "r$number", 'payload' => $number, 'id' => $id, 'delay' => $delay, 'priority' => $priority, 'unique' => $flag ? 1250 : null],
                ['receipt' => "s$number", 'payload' => 'past', 'id' => "x$number", 'past' => ['attempts' => $number, 'lastError' => 'before'],
                    'state' => $flag ? State::Buried : null, 'onDuplicate' => $rule === OnDuplicate::Fail ? OnDuplicate::Keep : $rule],
            ])),
            "forget receipt $number and $id" => static fn ($q) => $q->forgetReceipts("r$number", "s$number", $id),
            'consume as of old' => static fn ($q) => $number === 1 ? $q->consumer(limit: 1) : null,
        ];
    }
}
