<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Job;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Testing;
use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;
use Random\Engine\Mt19937;
use Random\Randomizer;
use Throwable;

/**
 * Takes random steps on Redis and on memory:// alike: both have to answer alike, and to hold the same jobs after each step. DELAYQUEUE_STEPS says how many
 * steps there are in all, in walks of 250.
 */
abstract class WalkCase extends TestCase
{
    use InteractsWithDelayQueue;

    private const STEPS = 250;

    private Randomizer $random;

    /** @return array<string, array{int}> */
    public static function seeds(): array
    {
        $seeds = [];
        foreach (range(1, max(1, intdiv((int) (getenv('DELAYQUEUE_STEPS') ?: 500), self::STEPS))) as $seed) {
            $seeds["walk $seed"] = [$seed];
        }

        return $seeds;
    }

    /** @dataProvider seeds */
    #[\PHPUnit\Framework\Attributes\DataProvider('seeds')]
    public function testRedisAndMemoryGoTheSameWay(int $seed): void
    {
        $this->random = new Randomizer(new Mt19937($seed));
        $options = ['backoff' => Backoff::fixed(1500), 'ttr' => 2500, 'maxAttempts' => 3, 'readTimeout' => 60];
        Testing::forgetMemory('walk');
        $queues = [$this->delayQueue('walk', $options), new DelayQueue('walk', 'memory://walk', $options)];
        $held = [[], []];
        $steps = [];
        for ($n = 0; $n < self::STEPS; ++$n) {
            [$name, $step] = $this->step();
            $steps[] = $name;
            $answers = [self::answer($step, $queues[0], $held[0]), self::answer($step, $queues[1], $held[1])];
            $walked = "seed $seed, step $n:\n" . implode("\n", array_slice($steps, -12));
            $this->assertSame($answers[0], $answers[1], $walked);
            [[$facts, $times], [$factsInMemory, $timesInMemory]] = array_map(self::snapshot(...), $queues);
            $this->assertSame($facts, $factsInMemory, $walked);
            $this->assertEqualsWithDelta($times, $timesInMemory, 5.0, $walked);
        }
        $this->assertGreaterThan(0, $queues[0]->stats()->pushed);
    }

    /** The steps that may come next, by name. @return array<string, callable(QueueInterface, array<int, Job>): mixed> */
    abstract protected function steps(): array;

    /** More of a queue, of what is equal. @return array<string, mixed> */
    protected static function more(QueueInterface $queue): array
    {
        return [];
    }

    /** @return array{string, callable(QueueInterface, array<int, Job>): mixed} */
    private function step(): array
    {
        $steps = $this->steps();
        $names = array_keys($steps);
        $name = $this->one([...$names, 'travel', 'travel', ...array_slice($names, 0, 9), $names[5], $names[5]]);
        if ($name === 'travel') {
            // Nothing is due within minutes of these moments: the time that the test itself takes does not matter.
            $number = $this->one([1, 2, 3]);
            $this->travel($number * 1000);

            return ["travel $number", static fn ($q) => null];
        }

        return [$name, $steps[$name]];
    }

    /** @param list<mixed> $choices */
    protected function one(array $choices): mixed
    {
        return $choices[$this->random->getInt(0, count($choices) - 1)];
    }

    /** A deed of the first job in hand, which stays in hand, so that acting twice is tried, too. */
    protected static function first(callable $act): callable
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
    protected static function told(array $jobs): array
    {
        return array_values(array_map(static fn (Job $job): array => [
            $job->id, $job->payload, $job->headers, $job->attempts, $job->priority, $job->token, $job->lastError, $job->maxAttempts, $job->group,
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

        $facts += static::more($queue);

        return [$facts + ['stats' => $stats, 'due' => $queue->countDue(...$moments)], $times];
    }
}
