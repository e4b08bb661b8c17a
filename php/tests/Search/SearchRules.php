<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DateTimeImmutable;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\Search\Search;
use DelayQueue\Search\Tags;
use DelayQueue\State;
use ValueError;

/** Which jobs a search finds, and how it walks. */
trait SearchRules
{
    public function testEachWordNarrowsTheSearch(): void
    {
        $queue = $this->queue();
        $queue->push(['order' => 4711], 60, 'a', headers: Tags::of('tenant:42', 'import') + ['shop' => 'de']);
        $queue->push(['order' => 4712], 60, 'b', headers: Tags::of('tenant:42') + ['shop' => 'at']);
        $queue->push(['order' => 14711], 60, 'c', headers: Tags::of('tenant:421'));
        $queue->push(['order' => 4711], 0, 'd', headers: Tags::of('tenant:42'));
        $queue->push('x', 0, 'e', maxAttempts: 1);
        $queue->reserveJob('e')->fail('Timeout: no answer');
        $all = Search::in($queue);
        $this->assertSame(['a', 'b', 'c', 'd', 'e'], self::ids($all));
        $this->assertSame(['a', 'b', 'd'], self::ids($all->tag('tenant:42')));
        $this->assertSame(['a'], self::ids($all->tag('tenant:42', 'import')));
        $this->assertSame(['a'], self::ids($all->tag('tenant:42')->tag('import')));
        $this->assertSame(['b'], self::ids($all->header('shop', 'at')->tag('tenant:42')));
        $this->assertSame([], self::ids($all->header('shop', 'at')->tag('import')));
        $this->assertSame(['a', 'c', 'd'], self::ids($all->payload('4711')));
        $this->assertSame(['a', 'c'], self::ids(Search::in($queue, State::Delayed)->payload('4711')));
        $this->assertSame(['e'], self::ids($all->error('Timeout')));
        $this->assertSame([], self::ids($all->error('timeout')));
        $this->assertSame(['d', 'e'], self::ids(Search::in($queue, State::Buried, State::Ready)));
        $this->assertCount(2, Search::in($queue)->tag('tenant:42')->dueBetween(Moment::of($queue->now() + 1), null));
    }

    public function testASearchIsNotChangedByNarrowingIt(): void
    {
        $queue = $this->queue();
        $queue->pushMany([['payload' => 1, 'id' => 'a'], ['payload' => 2, 'id' => 'b']]);
        $all = Search::in($queue, State::Ready);
        $all->payload('1');
        $all->limit(1);
        $this->assertSame(['a', 'b'], self::ids($all));
        $this->assertSame(['a', 'b'], self::ids($all), 'a second time');
    }

    public function testItSaysHowManyJobsItHasReadAndWhereItHasStopped(): void
    {
        $queue = $this->queue();
        $this->pushMany($queue, 450, static fn (int $n): array => ['delay' => 60 + $n, 'headers' => $n % 10 === 0 ? Tags::of('ten') : []]);
        $search = Search::in($queue, State::Delayed)->tag('ten');
        $this->assertSame([0, null], [$search->read(), $search->next()]);
        $this->assertSame(45, $search->count());
        $this->assertSame([450, null], [$search->read(), $search->next()]);

        $some = $search->limit(30);
        $first = self::ids($some);
        $this->assertStringEndsWith('.' . end($first), (string) $some->next());
        $this->assertLessThan(450, $some->read());
        $rest = $some->after((string) $some->next());
        $second = self::ids($rest);
        $this->assertSame([15, null], [count($second), $rest->next()]);
        $this->assertCount(45, array_unique([...$first, ...$second]));
    }

    public function testAJobThatKeepsItsPlaceIsFoundOnceWhateverComesAndGoes(): void
    {
        $queue = $this->queue();
        $this->pushMany($queue, 700, static fn (int $n): array => ['delay' => 100 + $n]);
        $found = [];
        foreach (Search::in($queue, State::Delayed) as $job) {
            $found[] = $job->id;
            if (count($found) % 100 === 1) {
                $queue->cancel(...array_slice($found, -50));
                $this->pushMany($queue, 20, static fn (int $n): array => ['delay' => 50], 'early-' . count($found));
            }
        }
        $found = array_filter($found, static fn (string $id): bool => str_starts_with($id, 'job-'));
        $this->assertSame([700, 700], [count($found), count(array_unique($found))]);
    }

    public function testTheWalkOfDelayedJobsBeginsAndEndsAtTheMoments(): void
    {
        $queue = $this->queue();
        $now = $queue->now();
        $at = static fn (int $n): DateTimeImmutable => Moment::of($now + 1000 + $n);
        $this->pushMany($queue, 1200, static fn (int $n): array => ['delay' => $at($n)]);
        $this->pushMany($queue, 30, static fn (int $n): array => [], 'ready');
        $search = Search::in($queue, State::Delayed)->dueBetween($at(600), $at(605));
        $this->assertSame(['job-600', 'job-601', 'job-602', 'job-603', 'job-604'], self::sorted(self::ids($search)));
        $this->assertLessThanOrEqual($this->partitions() === 1 ? 200 : 1200, $search->read());
        $this->assertSame(1199, Search::in($queue, State::Delayed)->dueBetween(null, $at(1200))->count());
        $this->assertSame(1200, Search::in($queue, State::Delayed)->dueBetween($at(1), null)->count());
        $this->assertSame(1, Search::in($queue, State::Delayed)->dueBetween($at(1200), null)->count());
        $this->assertSame(0, Search::in($queue, State::Delayed)->dueBetween($at(1201), null)->count());
        $this->assertSame(30, Search::in($queue)->dueBetween(null, $at(1))->count(), 'ready jobs are not in the order of their times');
    }

    public function testJobsThatGoWhileTheWalkLooksForItsBeginningHideNoOthers(): void
    {
        $queue = $this->queue();
        $now = $queue->now();
        $at = static fn (int $n): DateTimeImmutable => Moment::of($now + 1000 + $n);
        $this->pushMany($queue, 600, static fn (int $n): array => ['delay' => $at($n)]);
        foreach ([0, 1, 250, 300, 301, 599, 600, 601, 9999] as $before) {
            $moving = $this->interposed($queue, static fn (string $method, callable $call): mixed => $method === 'countDue' ? [0, $before] : $call());
            $this->assertCount(300, Search::in($moving, State::Delayed)->dueBetween($at(301), null), "$before");
        }
    }

    public function testSinceIsThePushAndOfABuriedJobItsBurial(): void
    {
        $queue = $this->queue();
        $queue->push(1, id: 'old', maxAttempts: 1);
        $queue->push(2, id: 'waits', delay: '2h');
        $this->travel('1h');
        $queue->reserveJob('old')->fail('now');
        $since = Moment::of($queue->now() - 60);
        $this->assertSame(['old'], self::ids(Search::in($queue)->since($since)));
        $this->assertSame(['old', 'waits'], self::sorted(self::ids(Search::in($queue)->since(Moment::of($queue->now() - 7200)))));
    }

    public function testWrongWordsAreErrorsBeforeAnythingIsRead(): void
    {
        $queue = $this->queue();
        $queue->push(1, id: 'a');
        $job = $queue->peek('a');
        $now = new DateTimeImmutable();
        $ready = Search::in($queue, State::Ready);
        $wrong = [
            'tag(): Argument #2 must not contain a comma' => static fn () => $ready->tag('a', 'b,c'),
            'tag(): Argument #1 must not be empty' => static fn () => $ready->tag(''),
            'header(): Argument #1 ($name) must not be empty' => static fn () => $ready->header('', 'x'),
            'header(): Argument #2 ($value) must be the value that "a" was given before' => static fn () => $ready->header('a', 'x')->header('a', 'y'),
            'payload(): Argument #1 ($part) must not be empty' => static fn () => $ready->payload(''),
            'error(): Argument #1 ($part) must not be empty' => static fn () => $ready->error(''),
            'dueBetween(): Argument #1 ($from) or argument #2 ($until) must be a moment' => static fn () => $ready->dueBetween(null, null),
            'dueBetween(): Argument #2 ($until) must be later than argument #1 ($from)' => static fn () => $ready->dueBetween($now, $now),
            'reading(): Argument #1 ($atMost) must be greater than or equal to 1' => static fn () => $ready->reading(0),
            'limit(): Argument #1 ($limit) must be greater than or equal to 1' => static fn () => $ready->limit(0),
            'after(): Argument #1 ($job) must be in a state that is searched' => static fn () => Search::in($queue, State::Buried)->after($job),
            'after(): Argument #1 ($job) must be a job, the place of one, or next() of a pass' =>
                static fn () => $ready->after('a'),
            'kick(): there are no ready jobs to do this with' => static fn () => $ready->kick(),
            'kick(): there are no delayed jobs to do this with' => static fn () => Search::in($queue, State::Delayed)->kick('10m'),
            'kick(): Argument #1 ($spread) must be greater than 0' => static fn () => Search::in($queue)->kick(0),
            'kick(): Argument #1 ($spread) must be a number of seconds or a duration' => static fn () => Search::in($queue)->kick('soon'),
            'kick(): it cannot begin behind a job that is ready' => static fn () => Search::in($queue)->after($job)->kick(),
            'reschedule(): there are no reserved jobs to do this with' => static fn () => Search::in($queue, State::Reserved)->reschedule(1),
            'reschedule(): Argument #1 ($delay) must be a number of seconds or a duration' => static fn () => $ready->reschedule('soon'),
            'moveTo(): there are no reserved jobs to do this with' => static fn () => Search::in($queue, State::Reserved)->moveTo($queue->sibling('other')),
            'moveTo(): Argument #1 ($target) must be another queue' => static fn () => $ready->moveTo($queue->sibling($queue->name())),
        ];
        foreach ($wrong as $message => $call) {
            try {
                $call();
                $this->fail("no error: $message");
            } catch (ValueError $error) {
                $this->assertStringStartsWith(Search::class . "::$message", $error->getMessage());
            }
        }
        $this->assertEquals($job, $queue->peek('a'));
        $this->assertSame([], $queue->receipts());
    }

    /** @param callable(int): array<string, mixed> $job */
    private function pushMany(QueueInterface $queue, int $count, callable $job, string $name = 'job'): void
    {
        $queue->pushMany(array_map(static fn (int $n): array => $job($n) + ['payload' => $n, 'id' => "$name-$n"], range(1, $count)));
    }

    /** @return list<string> */
    private static function ids(Search $search): array
    {
        $ids = array_map(static fn (JobInfo $job): string => $job->id, iterator_to_array($search, false));

        return $ids;
    }

    /**
     * @param list<string> $ids
     *
     * @return list<string>
     */
    private static function sorted(array $ids): array
    {
        sort($ids);

        return $ids;
    }
}
