<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\Backoff;
use DelayQueue\InMemory\InMemoryQueue;
use DelayQueue\InMemory\Store;
use DelayQueue\Job;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;
use Random\Engine\Mt19937;
use Random\Randomizer;
use Throwable;

/** The same random steps on Redis and in memory: both have to answer alike, and to hold the same jobs after each step. */
final class RandomWalkTest extends TestCase
{
    use InteractsWithDelayQueue;

    private const IDS = ['a', 'b', 'c', 'd', 'e', '7'];

    private Randomizer $random;

    /** @return array<string, array{int}> */
    public static function seeds(): array
    {
        $seeds = [];
        foreach (range(1, (int) (getenv('DELAYQUEUE_WALKS') ?: 6)) as $seed) {
            $seeds["walk $seed"] = [$seed];
        }

        return $seeds;
    }

    /** @dataProvider seeds */
    #[\PHPUnit\Framework\Attributes\DataProvider('seeds')]
    public function testRedisAndMemoryGoTheSameWay(int $seed): void
    {
        $this->random = new Randomizer(new Mt19937($seed));
        $options = ['backoff' => Backoff::fixed(1500), 'ttr' => 2500, 'maxAttempts' => 3];
        $queues = [$this->delayQueue('walk', $options), new InMemoryQueue('walk', $options, new Store())];
        $held = [[], []];
        $steps = [];
        for ($n = 0; $n < 250; ++$n) {
            [$name, $step] = $this->step();
            $steps[] = $name;
            $answers = [];
            foreach ($queues as $at => $queue) {
                $answers[] = self::answer($step, $queue, $held[$at]);
            }
            $walked = "seed $seed, step $n:\n" . implode("\n", array_slice($steps, -12));
            $this->assertSame($answers[0], $answers[1], $walked);
            [[$facts, $times], [$wantedFacts, $wantedTimes]] = [self::snapshot($queues[1]), self::snapshot($queues[0])];
            $this->assertSame($wantedFacts, $facts, $walked);
            $this->assertEqualsWithDelta($wantedTimes, $times, 5.0, $walked);
        }
        $this->assertGreaterThan(0, $queues[0]->stats()->acked);
    }

    /** @return array{string, callable(QueueInterface, array<int, Job>): mixed} */
    private function step(): array
    {
        $id = $this->one(self::IDS);
        $number = $this->one([1, 2, 3]);
        $delay = $this->one([0, 500, 1500, 3500]);
        $priority = $this->one([1024, 1024, 1024, 5, 2000]);
        $rule = $this->one(OnDuplicate::cases());
        $flag = $this->one([true, false]);
        $state = $this->one(State::cases());
        $steps = [
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
        $names = array_keys($steps);
        $name = $this->one([...$names, 'travel', 'travel', ...array_slice($names, 0, 9), $names[5], $names[5]]);
        if ($name === 'travel') {
            // Nothing is due within minutes of these moments: the time that the test itself takes does not matter.
            $this->travel($number * 1000);

            return ["travel $number", static fn ($q) => null];
        }

        return [$name, $steps[$name]];
    }

    /** @param list<mixed> $choices */
    private function one(array $choices): mixed
    {
        return $choices[$this->random->getInt(0, count($choices) - 1)];
    }

    /** A deed of the first job in hand, which stays in hand, so that acting twice is tried, too. */
    private static function first(callable $act): callable
    {
        return static function ($q, &$held) use ($act) {
            $job = $held[0] ?? null;
            if ($job === null) {
                return 'nothing in hand';
            }
            if ($job->isSettled() || $job->isLost()) {
                array_shift($held);
            }

            return $act($job);
        };
    }

    /** @param array<int, Job> $held */
    private static function answer(callable $step, QueueInterface $queue, array &$held): mixed
    {
        try {
            return $step($queue, $held);
        } catch (Throwable $error) {
            return [$error::class, $error->getMessage()];
        }
    }

    /** @param array<Job> $jobs */
    private static function told(array $jobs): array
    {
        return array_values(array_map(static fn (Job $job): array => [
            $job->id, $job->payload, $job->headers, $job->attempts, $job->priority, $job->token, $job->lastError, $job->maxAttempts,
        ], $jobs));
    }

    /** @return array{array<string, mixed>, array<string, float>} all of a queue: what is equal, and the times, which nearly are */
    private static function snapshot(QueueInterface $queue): array
    {
        $facts = $times = [];
        foreach (State::cases() as $state) {
            foreach ($queue->list($state) as $info) {
                $all = get_object_vars($info);
                $times += ["due $info->id" => $info->dueAt, "lease $info->id" => $info->leaseUntil ?? 0.0, "created $info->id" => $info->createdAt];
                $times += ["first $info->id" => $info->firstDueAt ?? 0.0, "expires $info->id" => $info->expiresAt ?? 0.0, "until $info->id" => $info->retryUntil ?? 0.0];
                unset($all['createdAt'], $all['dueAt'], $all['leaseUntil'], $all['firstDueAt'], $all['expiresAt'], $all['retryUntil'], $all['extras']);
                $facts[$state->value][] = ['backoff' => (string) $info->backoff] + $all;
            }
        }
        $stats = get_object_vars($queue->stats());
        $times['next'] = $stats['nextDueAt'] ?? 0.0;
        unset($stats['nextDueAt'], $stats['oldestReadyAge']);

        $moments = array_map(static fn (int $minutes): \DateTimeInterface => new \DateTimeImmutable('@' . ((int) $queue->now() + 60 * $minutes)), [-5, 5, 20]);

        $facts += ['receipts' => $queue->receipts(), 'taken' => array_column($queue->takenIds(), 'id')];

        return [$facts + ['stats' => $stats, 'due' => $queue->countDue(...$moments)], $times];
    }
}
