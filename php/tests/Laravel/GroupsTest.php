<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\GroupLimits;
use DelayQueue\State;
use DelayQueue\Testing;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\GroupedDeed;
use DelayQueue\Tests\Laravel\Support\Journal;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use DelayQueue\Tests\Laravel\Support\Tenant;
use Illuminate\Contracts\Bus\Dispatcher;
use Illuminate\Foundation\Bus\PendingDispatch;

/** The groups of Laravel's jobs, and what a handler may say of a limit elsewhere. */
final class GroupsTest extends OutboxTestCase
{
    private const COMMANDS = ['queue:work', 'delayqueue:work'];

    public function testAJobHasTheGroupOfItsPropertyElseOfItsMethod(): void
    {
        $queue = $this->queue();
        $ids = [
            'acme' => $queue->push((new GroupedDeed('property'))->in('acme')),
            '42' => $queue->push(new GroupedDeed('method')),
            'late' => $queue->later(60, (new GroupedDeed('later'))->in('late')),
            '' => $queue->push((new GroupedDeed('none'))->in('')),
            'raw' => $queue->pushRaw('{"job":"x"}', options: ['group' => 'raw']),
        ];
        foreach ($ids as $group => $id) {
            $this->assertSame((string) $group, (string) $queue->find($id)?->group);
        }
        $this->assertNull($queue->find($queue->push(new Deed('plain')))?->group);
    }

    public function testJobsOfABatchHaveTheirGroups(): void
    {
        $jobs = [(new GroupedDeed('a'))->in('one'), (new GroupedDeed('b'))->in('two'), new Deed('c')];
        $this->app->make(Dispatcher::class)->batch($jobs)->dispatch();
        $this->assertSame(['', 'one', 'two'], $this->groupsDue());
    }

    public function testOnGroupNamesTheGroupWhereLaravelHasIt(): void
    {
        if (!method_exists(PendingDispatch::class, 'onGroup')) {
            $this->assertFalse(method_exists(Deed::class, 'onGroup'), 'before Laravel 12 it does not');

            return;
        }
        Deed::dispatch('a')->onGroup('acme');
        dispatch((new Deed('b'))->onGroup(Tenant::Acme));
        $this->assertSame(['acme', 'acme'], $this->groupsDue());
    }

    public function testAJobThatFailedAndIsRetriedIsInItsGroupAgain(): void
    {
        $job = (new GroupedDeed('hopeless', 0, 'throw'))->in('acme');
        $job->tries = 1;
        dispatch($job);
        // In a process of its own, because Laravel 13 records failed jobs of one application in a process alone.
        $this->assertSame(0, $this->start('queue:work', '--stop-when-empty')->exitCode(20));
        $this->artisan('queue:retry', ['id' => ['all']]);
        $this->assertSame([1, ['acme']], [$this->lines('/^failed hopeless/'), $this->groupsDue()]);
    }

    public function testAJobInHandAndTheCommandShowTellTheGroup(): void
    {
        $id = $this->queue()->push((new GroupedDeed('a'))->in('acme'));
        $this->assertMatchesRegularExpression('/group *\| *acme/', $this->artisan('delayqueue:show', ['id' => $id]));
        $this->assertSame('acme', $this->queue()->pop()->group());
        $this->queue()->push(new Deed('b'));
        $this->assertNull($this->queue()->pop()->group());
    }

    public function testTheOutboxKeepsTheGroup(): void
    {
        $this->bootOutbox();
        $push = fn (string $group): mixed => dispatch((new GroupedDeed($group))->in($group));
        $this->shop()->transaction(function () use ($push): void {
            $push('row');
        });
        $push('now');
        $this->queue()->bulk([(new GroupedDeed('bulk'))->in('bulk')]);
        $this->assertSame(['bulk', 'now', 'row'], $this->groupsDue());

        $this->queue()->native()->purge();
        $this->relay();
        $this->bootWithoutRedis();
        $push('relayed');
        $this->bootWithOutbox();
        $this->relay();
        $this->assertSame(['relayed'], $this->groupsDue());
    }

    public function testALimitOfAGroupHoldsForWorkersOfLaravel(): void
    {
        foreach (self::COMMANDS as $command) {
            $this->queue()->native()->limitGroups('acme', new GroupLimits(concurrency: 1));
            foreach (['first', 'second'] as $name) {
                dispatch((new GroupedDeed($name))->in('acme'));
            }
            dispatch((new GroupedDeed('other'))->in('other'));
            $held = $this->queue()->pop();
            $this->assertSame('acme', $held->group());
            $this->work($command, '--stop-when-empty');
            $this->assertSame([0, 0, 1], [$this->lines('/^end first/'), $this->lines('/^end second/'), $this->lines('/^end other/')], $command);
            $held->release();
            $this->work($command, '--stop-when-empty');
            $this->assertSame([1, 1], [$this->lines('/^end first/'), $this->lines('/^end second/')], $command);
            $this->forget();
        }
    }

    public function testAnOrderedGroupWaitsForTheRetryOfItsFirstJob(): void
    {
        foreach (self::COMMANDS as $command) {
            $this->queue()->native()->limitGroups('acme', new GroupLimits(ordered: true));
            $first = (new GroupedDeed('first', 0, 'throw once'))->in('acme');
            $first->backoff = 60;
            dispatch($first);
            dispatch((new GroupedDeed('second'))->in('acme'));
            $this->work($command, '--stop-when-empty');
            $this->assertSame([1, 0], [$this->lines('/^begin first 1 /'), $this->lines('/^begin second/')], $command);
            $this->travel('61s');
            $this->work($command, '--stop-when-empty');
            $names = array_map(static fn (string $line): string => explode(' ', $line)[1], array_values(preg_grep('/^begin/', Journal::lines())));
            $this->assertSame(['first', 'first', 'second'], $names, $command);
            Testing::travelBack();
            $this->forget();
        }
    }

    public function testAHandlerThatIsRateLimitedClosesItsGroupAndUsesUpNoTry(): void
    {
        foreach (self::COMMANDS as $command) {
            $id = $this->queue()->push((new GroupedDeed('first', 0, 'rate limit'))->in('acme'));
            $due = $this->queue()->find($id)->dueAt;
            $this->work($command);
            $info = $this->queue()->find($id);
            $this->assertSame([0, 'acme', State::Ready, $due], [$info?->attempts, $info?->group, $info?->state, $info?->dueAt], $command);
            $this->assertTrue($this->queue()->native()->isPaused('acme'));
            $this->assertSame([0, 0], [$this->lines('/^failed/'), $this->queue()->stats()->failed]);
            $this->assertStringNotContainsString('RateLimited', $this->log());

            // Another group goes on, this one not.
            dispatch((new GroupedDeed('other'))->in('other'));
            $this->work($command, '--stop-when-empty');
            $this->assertSame([1, 1], [$this->lines('/^begin first/'), $this->lines('/^end other/')], $command);
            $this->travel('61s');
            $this->work($command);
            $this->assertSame(2, $this->lines('/^begin first 1 /'), $command);
            Testing::travelBack();
            $this->forget();
        }
    }

    public function testAJobThatItsHandlerHasDeletedStaysDeletedWhenItIsRateLimited(): void
    {
        foreach (self::COMMANDS as $command) {
            dispatch((new GroupedDeed('gone', 0, 'delete and rate limit'))->in('acme'));
            $this->work($command);
            $this->assertSame([1, 0, true], [$this->lines('/^begin gone/'), $this->queue()->size(), $this->queue()->native()->isPaused('acme')], $command);
            $this->forget();
        }
    }

    public function testAHandlerMayNameTheGroupThatIsRateLimited(): void
    {
        dispatch((new GroupedDeed('first', 0, 'rate limit api'))->in('acme'));
        $this->work('queue:work');
        $native = $this->queue()->native();
        $this->assertSame([true, false, false], [$native->isPaused('api'), $native->isPaused('acme'), $native->isPaused()]);
    }

    public function testAJobWithoutAGroupThatIsRateLimitedClosesItsQueue(): void
    {
        dispatch(new Deed('plain', 0, 'rate limit'));
        dispatch(new Deed('next'));
        $this->work('queue:work');
        $this->assertTrue($this->queue()->native()->isPaused());
        $this->work('delayqueue:work');
        $this->assertSame([1, 0, 2], [$this->lines('/^begin plain/'), $this->lines('/^begin next/'), $this->queue()->size()]);
    }

    /** @return list<string> those of the jobs that are due, sorted; '' for none */
    private function groupsDue(): array
    {
        $groups = [];
        while ($job = $this->queue()->pop()) {
            $groups[] = (string) $job->group();
        }
        sort($groups);

        return $groups;
    }

    /** One job, unless told otherwise. */
    private function work(string $command, string $until = '--once'): void
    {
        $this->artisan($command, [$until => true, '--sleep' => 0]);
    }

    /** For another round of the same test. */
    private function forget(): void
    {
        $this->queue()->native()->purge();
        $this->queue()->native()->resume('acme');
        Journal::clear();
    }
}
