<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use DelayQueue\Job;
use DelayQueue\Middleware\CircuitBreaker;
use DelayQueue\Middleware\Deadline;
use DelayQueue\Middleware\Log;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\Testing;
use DelayQueue\Testing\InteractsWithMemoryQueue;
use DelayQueue\TimeoutException;
use PHPUnit\Framework\TestCase;
use Psr\Log\AbstractLogger;
use RuntimeException;

/** Middleware that knows something of the run of a job. */
final class RunTest extends TestCase
{
    use InteractsWithMemoryQueue;

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

        $this->assertEqualsWithDelta([30.0, 10.0], $left, 1.0);
        $this->assertSame(INF, Deadline::left($seen), 'the run is over');
        $this->assertSame(INF, Deadline::left(Testing::job('x')), 'there is none');
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
        $this->assertEqualsWithDelta([30.0, 30.0], $left, 1.0);
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
        $breaker = new CircuitBreaker(1, '1h', '1h', key: static fn (Job $job): string => $job->id);
        $reached = [];
        $run = static function (string $id) use ($breaker, &$reached): void {
            try {
                $breaker(Testing::job('x', id: $id), static function (Job $job) use (&$reached): never {
                    $reached[] = $job->id;
                    throw new RuntimeException('down');
                });
            } catch (RuntimeException) {
                // Its failure counts.
            }
        };
        foreach (range(0, 1000) as $id) {
            $run((string) $id);
        }
        $reached = [];
        foreach (['1', '0', '2', '1'] as $id) {
            $run($id);
        }

        $this->assertSame(['0', '1'], $reached, '0 was forgotten, and then, for 0, 1');
    }
}
