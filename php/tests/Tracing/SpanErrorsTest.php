<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Tracing;

use DelayQueue;
use DelayQueue\Bury;
use DelayQueue\CancelledException;
use DelayQueue\Job;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueFullException;
use DelayQueue\RateLimited;
use DelayQueue\Release;
use DelayQueue\ShutdownException;
use DelayQueue\TimeoutException;
use DelayQueue\Tracing\Trace;
use OpenTelemetry\API\Trace\Span;
use OpenTelemetry\Context\Context;
use RuntimeException;

/**
 * Spans tell of failures, and a failure of tracing itself changes nothing.
 *
 * @runTestsInSeparateProcesses
 *
 * @preserveGlobalState disabled
 */
#[\PHPUnit\Framework\Attributes\RunTestsInSeparateProcesses]
#[\PHPUnit\Framework\Attributes\PreserveGlobalState(false)]
final class SpanErrorsTest extends SpansCase
{
    public function testAPushThatFailsIsAnError(): void
    {
        $queue = $this->delayQueue('orders', ['capacity' => 1]);
        $queue->push('x');
        try {
            Trace::push($queue, fn (array $headers): string => $queue->push('y', headers: $headers));
            $this->fail('the queue is full');
        } catch (QueueFullException $error) {
            $this->assertFailed($error::class, $error->getMessage(), $this->tracer->spans[0]);
        }
        $this->assertSame([], Context::$stack);
    }

    /** @dataProvider failures */
    #[\PHPUnit\Framework\Attributes\DataProvider('failures')]
    public function testTheSpanTellsOfAFailure(string $end, ?string $type, string $message): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push('x');
        $this->runDueJobs(new Pipeline(static fn (Job $job): bool => self::end($end, $job), new Trace()), $queue);

        [$span] = $this->tracer->spans;
        if ($type === null) {
            $this->assertSame([null, [], 1], [$span->status, $span->exceptions, $span->ended]);
            $this->assertArrayNotHasKey('error.type', $span->attributes);
        } else {
            $this->assertFailed($type, $message, $span);
        }
    }

    /** @return array<string, array{string, ?string, string}> */
    public static function failures(): array
    {
        return [
            'an exception' => ['throw', RuntimeException::class, 'no bank'],
            'too long' => ['time out', TimeoutException::class, 'too long'],
            'Bury' => ['bury', Bury::class, 'no use'],
            'Bury for a cause' => ['bury for a cause', RuntimeException::class, 'no bank'],
            'false' => ['return false', '_OTHER', 'the handler returned false'],
            'Release' => ['release', null, ''],
            'RateLimited' => ['limit', null, ''],
            'released and false' => ['settle', null, ''],
            'cancelled' => ['cancel', null, ''],
            'the end of the worker' => ['shut down', null, ''],
        ];
    }

    private static function end(string $end, Job $job): bool
    {
        match ($end) {
            'throw' => throw new RuntimeException('no bank'),
            'time out' => throw new TimeoutException('too long'),
            'bury' => throw new Bury('no use'),
            'bury for a cause' => throw new Bury('no use', 0, new RuntimeException('no bank')),
            'release' => throw new Release('1h'),
            'limit' => throw new RateLimited('1h'),
            'settle' => $job->release('1h'),
            'cancel' => throw new CancelledException('not any more'),
            'shut down' => throw new ShutdownException('SIGTERM'),
            'return false' => null,
        };

        return false;
    }

    /** @dataProvider brokenParts */
    #[\PHPUnit\Framework\Attributes\DataProvider('brokenParts')]
    public function testNothingThatFailsInTracingReachesTheHandlerOrThePush(string $part): void
    {
        $this->tracer->broken = $part;
        $log = (string) tempnam(sys_get_temp_dir(), 'delayqueue-log-');
        $before = (string) ini_set('error_log', $log);
        try {
            [$handled, $queue] = $this->pushAndRun();
            $logged = (string) file_get_contents($log);
        } finally {
            ini_set('error_log', $before);
            unlink($log);
        }

        $this->assertSame(['a', 'b'], $handled);
        $this->assertSame(1, $queue->count(), 'b failed by its own exception, and waits');
        $this->assertSame('RuntimeException: no bank', strtok((string) $queue->peek('b')?->lastError, "\n"));
        $this->assertSame(1, substr_count($logged, 'delayqueue could not trace: '), 'it is said once');
        $this->assertSame([], Context::$stack);
    }

    public function testATimeoutThatHitsTracingEndsTheRun(): void
    {
        $this->tracer->broken = 'time';
        $queue = $this->delayQueue('orders');
        $queue->push('x', id: 'a');
        $this->runDueJobs(new Pipeline(fn () => $this->fail('the time is over'), new Trace()), $queue);

        $this->assertStringStartsWith(TimeoutException::class . ': timed out', (string) $queue->peek('a')?->lastError);
    }

    /** @return array<string, array{string}> */
    public static function brokenParts(): array
    {
        return ['the provider' => ['getTracer'], 'the sampler' => ['startSpan'], 'the span' => ['span']];
    }

    /** @return array{list<string>, DelayQueue} */
    private function pushAndRun(): array
    {
        $queue = $this->delayQueue('orders');
        foreach (['a', 'b'] as $id) {
            $this->assertSame($id, Trace::push($queue, fn (array $headers): string => $queue->push('x', id: $id, headers: $headers)));
        }
        $handled = [];
        $this->runDueJobs(new Pipeline(static function (Job $job) use (&$handled): bool {
            $handled[] = $job->id;

            return $job->id === 'a' ?: throw new RuntimeException('no bank');
        }, new Trace()), $queue);

        return [$handled, $queue];
    }

    private function assertFailed(string $type, string $message, Span $span): void
    {
        $this->assertSame([$type, ['Error', $message], 1], [$span->attributes['error.type'] ?? null, $span->status, $span->ended]);
        $this->assertSame($type === '_OTHER' ? [] : [$type], array_map(static fn (\Throwable $error): string => $error::class, $span->exceptions));
    }
}
