<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\JobInfo;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\AssertionFailedError;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** @group redis */
#[\PHPUnit\Framework\Attributes\Group('redis')]
final class InteractsWithDelayQueueTest extends TestCase
{
    use InteractsWithDelayQueue;

    public function testCodeUnderTestReachesThePrivateServerWithoutADsn(): void
    {
        (new DelayQueue('orders'))->push('a', id: 'order-1');

        $this->assertPushed('order-1', 'orders');
        $this->assertNotPushed('order-1', 'invoices');
    }

    public function testEachTestBeginsWithNoQueues(): void
    {
        $this->assertSame([], $this->delayQueue()->queues());
        $this->delayQueue('one')->push('a');
        $this->delayQueue('one')->pause();
    }

    /** @depends testEachTestBeginsWithNoQueues */
    #[\PHPUnit\Framework\Attributes\Depends('testEachTestBeginsWithNoQueues')]
    public function testNothingIsLeftOfTheTestBefore(): void
    {
        $this->assertSame([], $this->delayQueue()->queues());
        $this->assertFalse($this->delayQueue('one')->isPaused());
        $this->assertQueueEmpty('one');
        $this->delayQueue('one')->push('b');
        $this->assertSame(['one'], $this->delayQueue()->queues());
    }

    public function testTimeTravelMakesJobsDue(): void
    {
        $queue = $this->delayQueue();
        $queue->push('later', delay: '15m', id: 'a');

        $this->assertDelayed('a', delay: 900);
        $this->assertNull($queue->reserve());
        $this->travel('14m59s');
        $this->assertNull($queue->reserve());
        $this->travel(1);
        $this->assertSame('later', $queue->reserve()?->payload);
        $this->assertReserved('a');
    }

    public function testTimeTravelToAMoment(): void
    {
        $this->delayQueue()->push('birthday', delay: new DateTimeImmutable('+1 year'), id: 'a');

        $this->travelTo(new DateTimeImmutable('+1 year +1 second'));

        $this->assertSame(1, $this->runDueJobs(static fn (): bool => true));
    }

    public function testTimeIsItselfAgainAfterATest(): void
    {
        $this->travel('10d');
        $this->tearDownDelayQueue();
        $this->setUpDelayQueue();

        $this->delayQueue()->push('a', id: 'a');

        $created = $this->delayQueue()->peek('a')?->createdAt;
        $this->assertEqualsWithDelta(microtime(true), $created, 60.0);
    }

    public function testAJobCanBeDescribedByAClosure(): void
    {
        $queue = $this->delayQueue();
        $queue->push(['order' => 1], delay: 60);
        $queue->push(['order' => 1], delay: 90);
        $first = static fn (JobInfo $job): bool => $job->payload['order'] === 1;

        $this->assertPushed($first, times: 2);
        $this->assertDelayed($first, delay: 90);
        $this->assertNotPushed(static fn (JobInfo $job): bool => $job->payload['order'] === 2);
    }

    public function testMoreJobsThanOnePageAreSeen(): void
    {
        $this->delayQueue()->pushMany(array_fill(0, 1201, ['payload' => 'x']));

        $this->assertPushed(times: 1201);
        $this->assertSame(1201, $this->runDueJobs(static fn (): bool => true, limit: 1201));
        $this->assertQueueEmpty();
    }

    /** @return array<string, array{callable(Job): mixed, ?State, ?string}> */
    public static function handlers(): array
    {
        return [
            'returns' => [static fn (): int => 1, null, null],
            'returns nothing' => [static function (): void {}, null, null],
            'returns false' => [static fn (): bool => false, State::Delayed, null],
            'throws Release' => [static fn () => throw new Release('7m'), State::Delayed, null],
            'throws Bury' => [static fn () => throw new Bury('hopeless'), State::Buried, 'hopeless'],
            'throws' => [static fn () => throw new RuntimeException('no bank'), State::Delayed, 'no bank'],
            'settles' => [static fn (Job $job) => $job->bury('by hand'), State::Buried, 'by hand'],
        ];
    }

    /**
     * @dataProvider handlers
     *
     * @param callable(Job): mixed $handler
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('handlers')]
    public function testAJobIsSettledAsItsHandlerDecides(callable $handler, ?State $state, ?string $error): void
    {
        $queue = $this->delayQueue(options: ['backoff' => Backoff::fixed('5m')]);
        $queue->push('a', id: 'a');

        $this->assertSame(1, $this->runDueJobs($handler));

        $info = $queue->peek('a');
        $this->assertSame($state, $info?->state);
        $this->assertStringContainsString((string) $error, (string) $info?->lastError);
    }

    public function testDueJobsRunInOrderAndOthersAreLeft(): void
    {
        $queue = $this->delayQueue();
        $queue->push('second', delay: 20);
        $queue->push('first', delay: 10);
        $queue->push('not yet', delay: 40);
        $this->travel(30);
        $seen = [];

        $handled = $this->runDueJobs(static function (Job $job, DelayQueue $from) use (&$seen): void {
            $seen[] = $job->payload;
        });

        $this->assertSame(2, $handled);
        $this->assertSame(['first', 'second'], $seen);
        $this->assertDelayed(static fn (JobInfo $job): bool => $job->payload === 'not yet');
    }

    public function testListenersOfTheQueueHearWhatBecameOfItsJobs(): void
    {
        $heard = [];
        $queue = $this->delayQueue();
        foreach ([Event::Released, Event::Failed, Event::Buried, Event::Succeeded] as $event) {
            $queue->on($event, static function (Event $event, ?Job $job) use (&$heard): void {
                $heard[] = "$job->id {$event->value}";
            });
        }
        $queue->push(static::class, id: 'a', maxAttempts: 2, backoff: Backoff::fixed('1m'));
        $ends = [new Release('1m'), new RuntimeException('no bank'), null];
        $handler = static function () use (&$ends): void {
            $end = array_shift($ends);
            if ($end !== null) {
                throw $end;
            }
        };

        $this->assertSame(1, $this->runDueJobs($handler, $queue));
        $this->travel('61s');
        $this->assertSame(1, $this->runDueJobs($handler, $queue));
        $queue->kick();
        $this->assertSame(1, $this->runDueJobs($handler, $queue));

        $this->assertSame(['a released', 'a failed', 'a buried', 'a succeeded'], $heard);
    }

    /** @return array<string, array{callable(Job): mixed, class-string<\Throwable>, string}> */
    public static function mistakes(): array
    {
        return [
            'a failed assertion' => [static fn (Job $job) => self::assertSame('b', $job->payload), AssertionFailedError::class, 'AssertionFailed|ExpectationFailed'],
            'an undefined function' => [static fn () => \undefined(), \Error::class, 'undefined function'],
            'a wrong argument' => [static fn (Job $job) => strlen($job), \TypeError::class, 'must be of type string'],
        ];
    }

    /**
     * @dataProvider mistakes
     *
     * @param callable(Job): mixed $handler
     * @param class-string<\Throwable> $class
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    public function testAMistakeInAHandlerReachesTheTestAndItsJobHasFailed(callable $handler, string $class, string $error): void
    {
        $queue = $this->delayQueue();
        $queue->push('a', id: 'a', backoff: Backoff::fixed('5m'));
        $queue->push('next', id: 'next');
        $thrown = null;
        try {
            $this->runDueJobs($handler, $queue);
        } catch (\Throwable $thrown) {
            // As a test that expects it.
        }
        $this->assertInstanceOf($class, $thrown);
        $this->assertDelayed('a', $queue);
        $this->assertMatchesRegularExpression("/$error/", (string) $queue->peek('a')?->lastError);
        $this->assertSame(State::Ready, $queue->peek('next')?->state, 'nothing more runs');
        $this->assertSame(1, $queue->drain($handler), 'to drain() it is one failed job of many');
        $this->assertSame(0, $this->runDueJobs($handler, $queue), 'and nothing stays stopped');
    }

    public function testAHandlerThatNeverEndsFailsTheTest(): void
    {
        $this->delayQueue()->push('a');

        $this->expectException(AssertionFailedError::class);
        $this->expectExceptionMessage("more than 5 jobs were due in queue 'default'");
        $this->runDueJobs(static fn (Job $job) => $job->release(), limit: 5);
    }

    public function testBuriedJobsAreKnownByTheirReason(): void
    {
        $this->delayQueue()->push('a', id: 'a', maxAttempts: 1);
        $this->runDueJobs(static fn () => throw new RuntimeException('card declined'));

        $this->assertBuried('a', reason: 'declined');
    }

    /** @return array<string, array{callable(self): void, string}> */
    public static function failures(): array
    {
        return [
            'pushed' => [static fn (self $t) => $t->assertPushed('b'), "job 'b' is not in the queue. Queue 'default' has: ready a"],
            'pushed times' => [static fn (self $t) => $t->assertPushed('a', times: 2), "jobs as described in queue 'default'"],
            'not pushed' => [static fn (self $t) => $t->assertNotPushed('a'), "jobs in queue 'default' that should not be there"],
            'delayed' => [static fn (self $t) => $t->assertDelayed('a'), "job 'a' is not delayed"],
            'delayed by' => [static fn (self $t) => $t->assertDelayed('c', 'other', 61), "job 'c' is delayed by 60 s, not 61 s"],
            'reserved' => [static fn (self $t) => $t->assertReserved(), 'a job is not reserved'],
            'buried' => [static fn (self $t) => $t->assertBuried(static fn (): bool => true), 'a job as described is not buried'],
            'empty' => [static fn (self $t) => $t->assertQueueEmpty(), "jobs in queue 'default' that should not be there"],
        ];
    }

    /**
     * @dataProvider failures
     *
     * @param callable(self): void $assert
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('failures')]
    public function testAFailedAssertionSaysWhatIsThere(callable $assert, string $message): void
    {
        $this->delayQueue()->push('x', id: 'a');
        $this->delayQueue('other')->push('x', delay: 60, id: 'c');

        $this->expectException(AssertionFailedError::class);
        $this->expectExceptionMessage($message);
        $assert($this);
    }
}
