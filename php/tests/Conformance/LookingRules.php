<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DateTime;
use DateTimeImmutable;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Testing;

/** Pages, counts and the clock; other queues beside this one. */
trait LookingRules
{
    public function testAPageBeginsBehindAJobWhetherItIsThereOrNot(): void
    {
        $moments = [
            State::Delayed->value => new DateTimeImmutable('2100-01-01 00:00:00.123456 UTC'),
            State::Ready->value => new DateTimeImmutable('2020-02-02 02:02:02.020202 UTC'),
        ];
        foreach ([State::Delayed, State::Ready] as $state) {
            $queue = $this->queue($state->value);
            foreach (['e' => 1024, 'B' => 1024, 'd' => 5, 'a' => 5, '10' => 3000, '9' => 3000, 'c' => 1024] as $id => $priority) {
                $queue->push($id, $moments[$state->value], "$id", $priority);
            }
            $all = self::ids($queue, $state);
            $this->assertSame($state === State::Ready ? ['a', 'd', 'B', 'c', 'e', '10', '9'] : ['10', '9', 'B', 'a', 'c', 'd', 'e'], $all);
            $this->pagesGoOnBehind($queue, $state, $all);
        }
    }

    public function testAPageOfHeldAndOfBuriedJobsBeginsBehindAJob(): void
    {
        $queue = $this->queue();
        foreach (['a' => 300, 'b' => 100, 'c' => 200] as $id => $ttr) {
            $queue->push($id, id: $id, ttr: $ttr);
            $queue->push($id, id: "buried-$id");
        }
        foreach (['b', 'a', 'c'] as $id) {
            $queue->reserveJob($id);
            $queue->reserveJob("buried-$id")?->bury();
        }
        $this->assertSame(['b', 'c', 'a'], self::ids($queue, State::Reserved));
        $this->pagesGoOnBehind($queue, State::Reserved, ['b', 'c', 'a']);
        $this->pagesGoOnBehind($queue, State::Buried, ['buried-b', 'buried-a', 'buried-c']);
    }

    /** @param list<string> $all */
    private function pagesGoOnBehind(QueueInterface $queue, State $state, array $all): void
    {
        $names = static fn (array $jobs): array => array_map(static fn (JobInfo $job): string => $job->id, $jobs);
        foreach ($queue->list($state) as $at => $job) {
            $this->assertSame(array_slice($all, $at + 1), $names($queue->list($state, after: $job)));
            $this->assertSame(array_slice($all, $at + 2, 2), $names($queue->list($state, 1, 2, $queue->peek($job->id))));
            $queue->cancel($job->id);
            $this->assertSame(array_slice($all, $at + 1), $names($queue->list($state, after: $job)), "behind $job->id, which is gone");
            $this->assertSame(
                array_slice($all, $at + 1),
                $names($queue->list($state, after: $job->place())),
                "behind the place of $job->id",
            );
        }
    }

    public function testOffsetsAndLimitsMayBeAsLargeAsAnIntAndNegativeOnesAreRefused(): void
    {
        $queue = $this->queue();
        $queue->push('later', 3600, 'later');
        $queue->push('urgent', id: 'urgent', priority: 7);
        $queue->push('grouped', id: 'grouped', group: 'g');
        $queue->push('ready', id: 'ready');
        $queue->push('held', id: 'held');
        $queue->reserveJob('held');
        foreach (['one', 'two'] as $id) {
            $queue->push($id, id: $id);
            $queue->reserveJob($id)?->bury();
        }
        foreach (State::cases() as $state) {
            $this->assertCount($queue->count($state), $queue->list($state, 0, PHP_INT_MAX));
            $this->assertSame([], $queue->list($state, PHP_INT_MAX, PHP_INT_MAX));
            $this->assertSame([], $queue->list($state, PHP_INT_MAX, 1));
            $this->assertSame([], $queue->list($state, PHP_INT_MAX - 1, 1, $queue->list($state)[0]));
        }
        $this->assertSame([], $queue->list(State::Ready, PHP_INT_MAX, PHP_INT_MAX, group: 'g'));
        $this->assertSame(['grouped'], self::idsOf($queue, 'g', State::Ready, 0, PHP_INT_MAX));
        $this->assertSame(['g'], $queue->groups(PHP_INT_MAX));
        $this->assertSame([], $queue->receipts(limit: PHP_INT_MAX));
        $this->assertSame(2, $queue->kick(PHP_INT_MAX));
        $this->assertCount(5, $queue->reserveMany(PHP_INT_MAX));

        foreach ([-1, PHP_INT_MIN] as $negative) {
            $wrong = [
                'list(): Argument #2 ($offset) must be greater than or equal to 0' =>
                    static fn () => $queue->list(State::Ready, $negative),
                'list(): Argument #3 ($limit) must be greater than or equal to 1' =>
                    static fn () => $queue->list(State::Ready, 0, $negative),
                'groups(): Argument #1 ($limit) must be greater than or equal to 1' =>
                    static fn () => $queue->groups($negative),
                'receipts(): Argument #3 ($limit) must be greater than or equal to 1' =>
                    static fn () => $queue->receipts(limit: $negative),
                'kick(): Argument #1 ($max) must be greater than or equal to 1' =>
                    static fn () => $queue->kick($negative),
                'reserveMany(): Argument #1 ($max) must be greater than or equal to 1' =>
                    static fn () => $queue->reserveMany($negative),
                'consumer(): Argument #2 ($limit) must be greater than or equal to 1' =>
                    static fn () => $queue->consumer(limit: $negative),
                'drain(): Argument #2 ($limit) must be greater than or equal to 0' =>
                    static fn () => $queue->drain(static fn () => null, $negative),
                'consume(): Argument #3 ($maxJobs) must be greater than or equal to 0' =>
                    static fn () => $queue->consume(static fn () => null, maxJobs: $negative),
                'consume(): Argument #7 ($prefetch) must be between 1 and 500' =>
                    static fn () => $queue->consume(static fn () => null, prefetch: $negative),
            ];
            foreach ($wrong as $message => $call) {
                $this->assertSame("ValueError: $message", self::thrown($call));
            }
        }
    }

    public function testAJobOfAnotherStateIsNoPlaceInThisOne(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a');
        $job = $queue->peekReady();

        $this->assertSame(
            'ValueError: list(): Argument #4 ($after) must be a job in the state that is listed',
            self::thrown(static fn () => $queue->list(State::Delayed, after: $job)),
        );
        $this->assertSame(
            'ValueError: list(): Argument #4 ($after) must be a job, or the place of one',
            self::thrown(static fn () => $queue->list(State::Delayed, after: 'a')),
        );
    }

    public function testWaitingJobsAreCountedThatAreDueBeforeAMoment(): void
    {
        $queue = $this->queue();
        $moment = new DateTimeImmutable('2100-01-01 00:00:00.000001 UTC');
        $queue->push('at', $moment, 'at', 7);
        $queue->push('before', $moment->modify('-1 microsecond'), 'before');
        $queue->push('ready', id: 'ready');
        $queue->push('held', id: 'held');
        $queue->reserveJob('held');
        $queue->push('buried', id: 'buried');
        $queue->reserveJob('buried')?->bury();

        $this->assertSame([2, 3, 0], $queue->countDue(DateTime::createFromImmutable($moment), $moment->modify('+1 microsecond'), new DateTimeImmutable('@0')));
        $this->assertSame([], $queue->countDue());
        $this->assertSame([1], $queue->countDue(DateTimeImmutable::createFromFormat('U.u', sprintf('%.6F', $queue->now() + 60))));
    }

    public function testNowIsTheClockOfTheQueue(): void
    {
        $queue = $this->queue();
        $this->assertEqualsWithDelta(microtime(true), $queue->now(), 5.0);
        $before = $queue->now();
        $queue->push('a', id: 'a');
        $this->assertGreaterThanOrEqual($before, $queue->peek('a')->dueAt);
        $this->assertLessThanOrEqual($queue->now(), $queue->peek('a')->dueAt);
        $this->travel('1h');
        $this->assertEqualsWithDelta($before + 3600, $queue->now(), 5.0);
        Testing::travelTo(new DateTimeImmutable('2100-01-01 UTC'));
        $this->assertEqualsWithDelta(4102444800.0, $queue->now(), 5.0);
    }

    public function testASiblingIsAnotherQueueWithTheSameOptions(): void
    {
        $queue = $this->queue(options: ['ttr' => 30, 'priority' => 9, 'format' => 'raw']);
        $heard = [];
        $queue->on(\DelayQueue\Event::Succeeded, static function () use (&$heard): void { $heard[] = 'own'; })->watch('elsewhere');
        $sibling = $queue->sibling('beside');
        $other = $sibling->sibling('beside', ['ttr' => 45.5, 'maxAttempts' => 2]);

        $this->assertSame([$queue::class, 'beside', 'beside'], [$sibling::class, $sibling->name(), $other->name()]);
        $sibling->push("\xff", id: 'a');
        $other->push("\xfe", id: 'b');
        [$a, $b] = $sibling->list(State::Ready);
        $this->assertSame(["\xff", 30.0, 9, 10], [$a->payload, $a->ttr, $a->priority, $a->maxAttempts]);
        $this->assertSame(["\xfe", 45.5, 9, 2], [$b->payload, $b->ttr, $b->priority, $b->maxAttempts]);
        $this->assertSame([0, 2], [$queue->count(), $other->count()]);
        $this->assertSame(2, $sibling->drain(static fn () => null), 'it serves its own jobs');
        $this->assertSame([], $heard);
    }

    public function testAQueueThatNobodyServedHasNoHistory(): void
    {
        $this->queue()->push('a');
        $this->assertSame([], $this->queue()->stats()->history());
    }
}
