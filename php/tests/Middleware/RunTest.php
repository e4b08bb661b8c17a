<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use DelayQueue\Job;
use DelayQueue\Middleware\CircuitBreaker;
use DelayQueue\Middleware\Deadline;
use DelayQueue\Middleware\Log;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\Testing;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\TimeoutException;
use PHPUnit\Framework\TestCase;
use Psr\Log\AbstractLogger;
use RuntimeException;

/** Middleware that knows something of the run of a job. */
final class RunTest extends TestCase
{
    use OnAnyStore;

    public function testAHandlerCanAskHowMuchTimeItHas(): void
    {
        $queue = $this->delayQueue();
        $queue->push('x');
        $left = [];
        $seen = null;
        $this->runDueJobs(new Pipeline(function (Job $job) use (&$left, &$seen): void {
            $seen = $job;
            $left[] = Deadline::left($job);
            $this->travel('20s');
            $left[] = Deadline::left($job);
        }, new Deadline('1m'), new Deadline('30s'), new Deadline('2m')), $queue);

        $this->assertEqualsWithDelta([30.0, 10.0], $left, 5.0);
        $this->assertSame(INF, Deadline::left($seen), 'the run is over');
        $this->assertSame(INF, Deadline::left(Testing::job('x')), 'there is none');
    }

    public function testAHandlerMayGetAnotherObjectForItsJob(): void
    {
        $queue = $this->delayQueue();
        $queue->push('x');
        $left = null;
        $other = static fn (Job $job, callable $next): mixed => $next(Testing::job('decoded'));
        $this->runDueJobs(new Pipeline(static function (Job $job) use (&$left): void {
            $left = Deadline::left($job);
        }, new Deadline('30s'), $other), $queue);

        $this->assertEqualsWithDelta(30.0, $left, 5.0);
        $this->assertSame(INF, Deadline::left(Testing::job('x')), 'the run is over');
    }

    public function testAHandlerThatAsksTooLateHasFailed(): void
    {
        $queue = $this->delayQueue();
        $queue->push('x', id: 'a');
        $this->runDueJobs(new Pipeline(function (Job $job): void {
            $this->travel('30s');
            Deadline::left($job);
        }, new Deadline('30s')), $queue);

        $this->assertStringStartsWith(TimeoutException::class . ': the deadline of this run has passed', (string) $queue->peek('a')?->lastError);
    }

    public function testEachRunHasItsWholeTime(): void
    {
        $deadline = new Deadline('30s');
        $left = [];
        foreach ([1, 2] as $run) {
            $deadline(Testing::job('x'), function (Job $job) use (&$left): void {
                $left[] = Deadline::left($job);
                $this->travel('20s');
            });
        }
        $this->assertEqualsWithDelta([30.0, 30.0], $left, 5.0);
    }

    public function testALineOfAHandlerTellsForWhichJob(): void
    {
        $logger = new class () extends AbstractLogger {
            /** @var list<array{mixed, string, array<array-key, mixed>}> */
            public array $lines = [];

            public function log($level, $message, array $context = []): void
            {
                $this->lines[] = [$level, (string) $message, $context];
            }
        };
        $log = new Log($logger);
        $queue = $this->delayQueue('orders');
        $queue->push(['task' => 'close'], id: 'a');
        $queue->push('x', id: 'b', delay: 1);
        $pipeline = new Pipeline(function (Job $job) use ($log, $queue, &$pipeline): void {
            $log->info('begins', ['job' => 'my own', 'order' => 7]);
            if ($job->id === 'a') {
                $this->travel('2s');
                $queue->drain($pipeline);
                $log->warning('ends');
                throw new RuntimeException('no bank');
            }
        }, $log);
        $log->debug('before');
        $this->runDueJobs($pipeline, $queue, 1);
        $log->notice('after', ['order' => 8]);

        $job = ['queue' => 'orders', 'attempt' => 1];
        $this->assertEquals([
            ['debug', 'before', []],
            ['info', 'begins', ['job' => 'my own', 'order' => 7, 'task' => 'close'] + $job],
            ['info', 'begins', ['job' => 'my own', 'order' => 7] + $job],
            ['warning', 'ends', ['job' => 'a', 'task' => 'close'] + $job],
            ['notice', 'after', ['order' => 8]],
        ], $logger->lines);
        $this->assertSame([], $log->context());
    }

    public function testTheKeyThatFailedLongestAgoIsForgottenAfterAThousand(): void
    {
        $breaker = new CircuitBreaker(3, '1h', '1h', key: static fn (Job $job): string => $job->id);
        $reached = [];
        $run = static function (int $id, int $times = 1) use ($breaker, &$reached): void {
            while ($times-- > 0) {
                try {
                    $breaker(Testing::job('x', id: (string) $id), static function (Job $job) use (&$reached): never {
                        $reached[] = $job->id;
                        throw new RuntimeException('down');
                    });
                } catch (RuntimeException) {
                    // Its failure counts.
                }
            }
        };
        foreach (range(0, 999) as $id) {
            $run($id, times: 2);
        }
        $run(0);
        $run(1000);
        $reached = [];
        $run(0);
        $run(1, times: 3);
        $run(2, times: 2);

        $this->assertSame(['1', '1', '1', '2', '2'], $reached, '0 failed again and is open; for 1000 the 1 was forgotten, and for that the 2');
    }

    public function testAJobThatIsGivenBackIsNotDone(): void
    {
        $breaker = new CircuitBreaker(1, '1h', '1h');
        $handler = static fn (): never => throw new RuntimeException('down');
        try {
            $breaker(Testing::job('x'), $handler);
            $this->fail('it throws');
        } catch (RuntimeException) {
            $job = Testing::job('x');
            $this->assertFalse($breaker($job, $handler), 'no follower of the job begins');
            $outcome = Testing::outcome($job);
            $this->assertSame(['release', false, false], [$outcome?->name, $outcome?->countAttempt, $outcome?->failed]);
        }
    }
}
