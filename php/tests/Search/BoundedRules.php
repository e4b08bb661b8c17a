<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DateTimeImmutable;
use DelayQueue\Internal\Moment;
use DelayQueue\QueueInterface;
use DelayQueue\Search\Search;
use DelayQueue\Search\Tags;
use DelayQueue\State;
use RuntimeException;

/** Changes of many jobs in bounded passes, each of which another process may make. */
trait BoundedRules
{
    public function testEachChangeEndsInBoundedPassesThatDoEachJobOnce(): void
    {
        $changes = [
            'cancel' => static fn (Search $search): int => $search->cancel(),
            'kick' => static fn (Search $search): int => $search->kick(),
            'spread' => static fn (Search $search): int => $search->kick(spread: '10m'),
            'reschedule' => static fn (Search $search): int => $search->reschedule('1h'),
            'moment' => static fn (Search $search): int => $search->reschedule(new DateTimeImmutable('2100-01-01')),
            'now' => static fn (Search $search): int => $search->reschedule(0),
        ];
        foreach ($changes as $name => $change) {
            $queue = $this->queue($name);
            $job = static fn (int $n): array
                => ['maxAttempts' => 1, 'headers' => $n % 3 === 0 ? Tags::of('third') : []];
            $this->pushMany($queue, 150, $job);
            foreach (range(1, 150) as $n) {
                $queue->reserveJob("job-$n")->fail('no money');
            }
            $buried = Search::in($queue, State::Buried)->reading(40);
            $this->assertSame(50, $this->inPasses($buried->tag('third'), $change), $name);
            $this->assertSame(100, $queue->count(State::Buried), $name);
            $done = $this->inPasses($buried, $change);
            $this->assertSame([100, 0], [$done, $queue->count(State::Buried)], $name);
        }
        $this->assertEqualsWithDelta(150 * 5 / 6, $this->dueWithin($this->queue('spread'), 500), 5, 'evenly');
    }

    public function testJobsThatAreRescheduledInPassesKeepTheirOrderAndAreMetOnce(): void
    {
        $queue = $this->queue();
        $this->pushMany($queue, 150, static fn (int $n): array => ['delay' => 600 - $n]);
        $before = array_column($queue->list(State::Delayed, 0, 200), 'id');
        $reschedule = static fn (Search $search): int => $search->reschedule('1h');
        $this->assertSame(150, $this->inPasses(Search::in($queue, State::Delayed)->reading(40), $reschedule));
        $this->assertSame($before, array_column($queue->list(State::Delayed, 0, 200), 'id'));
    }

    public function testJobsThatStayAreMetOnceByTheMovesOfABoundedPass(): void
    {
        [$queue, $target] = [$this->queue(), $this->queue('target')];
        $this->pushMany($queue, 150, static fn (int $n): array => ['delay' => 60 + $n]);
        $this->pushMany($target, 100, static fn (int $n): array => []); // their ids are taken
        $search = Search::in($queue, State::Delayed)->reading(40);
        $move = static fn (Search $search): int => $search->moveTo($target);
        $this->assertSame(50, $this->inPasses($search, $move));
        $this->assertSame([100, 150, []], [$queue->count(), $target->count(), $target->receipts()]);
    }

    public function testAJobThatIsBuriedAgainMeanwhileIsNotKickedASecondTime(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 90);
        $failing = function (Search $search) use ($queue): int {
            $kicked = $search->kick();
            $queue->drain(static fn () => throw new RuntimeException('again'), limit: 40);

            return $kicked;
        };
        $this->assertSame(90, $this->inPasses(Search::in($queue, State::Buried)->reading(40), $failing));
        $this->assertSame(90, $queue->count(State::Buried));
    }

    public function testAPassThatFailsGoesOnBehindTheJobsThatItIsDoneWith(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 450);
        $kicks = 0;
        $failing = $this->interposed($queue, static function (string $method, callable $call) use (&$kicks): mixed {
            return $method === 'kickJob' && ++$kicks === 300 ? throw new RuntimeException('no Redis') : $call();
        });
        $search = Search::in($failing, State::Buried);
        try {
            $search->kick();
            $this->fail('no error');
        } catch (RuntimeException) {
            $this->assertSame([299, 151], [$queue->count(State::Ready), $queue->count(State::Buried)]);
        }
        $this->assertSame(151, $search->after((string) $search->next())->kick());
        $this->assertSame(450, $queue->count(State::Ready));
    }

    public function testAPassGoesOnWhenTheJobAtItsBorderHasGone(): void
    {
        foreach ([State::Delayed, State::Ready, State::Buried] as $state) {
            $queue = $this->queue($state->value);
            $delay = $state === State::Delayed ? 60 : 0;
            $job = static fn (int $n): array => ['delay' => $delay, 'maxAttempts' => 1, 'priority' => 1024 - $n % 3];
            $this->pushMany($queue, 30, $job);
            foreach ($state === State::Buried ? range(1, 30) : [] as $n) {
                $queue->reserveJob("job-$n")->fail('no money');
            }
            $all = self::ids(Search::in($queue, $state));
            $first = Search::in($queue, $state)->limit(12);
            $this->assertSame(array_slice($all, 0, 12), self::ids($first), $state->value);
            $queue->cancel($all[11], $all[3], $all[12]);
            $rest = self::ids(Search::in($queue, $state)->after((string) $first->next()));
            $this->assertSame(array_slice($all, 13), $rest, $state->value);
        }
    }

    /** @param callable(Search): int $change */
    private function inPasses(Search $search, callable $change): int
    {
        $done = $passes = 0;
        for ($next = ''; $next !== null; $next = $pass->next()) {
            $this->assertLessThan(20, ++$passes, $next);
            $pass = $search->after($next);
            $done += $change($pass);
            $this->assertLessThanOrEqual(40, $pass->read());
        }

        return $done;
    }

    private function dueWithin(QueueInterface $queue, int $seconds): int
    {
        return array_sum($queue->countDue(Moment::of($queue->now() + $seconds)));
    }
}
