<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Tracing;

use DelayQueue\Bury;
use DelayQueue\CancelledException;
use DelayQueue\InMemory\InMemoryQueue;
use DelayQueue\Job;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueFullException;
use DelayQueue\RateLimited;
use DelayQueue\Release;
use DelayQueue\ShutdownException;
use DelayQueue\Testing\InteractsWithMemoryQueue;
use DelayQueue\TimeoutException;
use DelayQueue\Tracing\Relation;
use DelayQueue\Tracing\Trace;
use OpenTelemetry\API\Globals;
use OpenTelemetry\API\Trace\Span;
use OpenTelemetry\API\Trace\SpanContext;
use OpenTelemetry\API\Trace\SpanKind;
use OpenTelemetry\API\Trace\TraceState;
use OpenTelemetry\Context\Context;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/**
 * The spans that are made where OpenTelemetry is installed: here its stand-in. In processes of their own, because other tests are about PHPs without it.
 *
 * @runTestsInSeparateProcesses
 *
 * @preserveGlobalState disabled
 */
#[\PHPUnit\Framework\Attributes\RunTestsInSeparateProcesses]
#[\PHPUnit\Framework\Attributes\PreserveGlobalState(false)]
final class SpansTest extends TestCase
{
    use InteractsWithMemoryQueue;

    private const CAME = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

    private Tracer $tracer;

    protected function setUp(): void
    {
        require_once __DIR__ . '/open_telemetry_stand_in.php';
        Globals::$provider = $this->tracer = new Tracer();
    }

    public function testPushAndRunAreSpansByTheConventionsAndTheRunLinksToThePush(): void
    {
        $queue = $this->delayQueue('orders');
        $id = Trace::push($queue, fn (array $headers): string => $queue->push('x', headers: $headers + ['tenant' => 'acme']));
        $this->runDueJobs(new Pipeline(fn () => true, new Trace()), $queue);

        $this->assertSame(['delayqueue', null, 'https://opentelemetry.io/schemas/1.44.0'], $this->tracer->scope);
        [$push, $process] = $this->tracer->spans;
        $this->assertSame(['push orders', SpanKind::KIND_PRODUCER], [$push->name, $push->kind]);
        $this->assertSame([
            'messaging.destination.name' => 'orders',
            'messaging.message.id' => $id,
            'messaging.operation.name' => 'push',
            'messaging.operation.type' => 'send',
            'messaging.system' => 'delayqueue',
        ], self::sorted($push->attributes));
        $this->assertSame(['process orders', SpanKind::KIND_CONSUMER], [$process->name, $process->kind]);
        $this->assertSame([
            'messaging.delayqueue.attempt' => 1,
            'messaging.destination.name' => 'orders',
            'messaging.message.id' => $id,
            'messaging.operation.name' => 'process',
            'messaging.operation.type' => 'process',
            'messaging.system' => 'delayqueue',
        ], self::sorted($process->attributes));
        $this->assertNull($process->parent);
        $this->assertNotSame($push->getContext()->getTraceId(), $process->getContext()->getTraceId());
        $this->assertSame([$push->getContext()->getSpanId()], array_map(static fn (SpanContext $link): string => $link->getSpanId(), $process->links));
        foreach ([$push, $process] as $span) {
            $this->assertSame([1, null, []], [$span->ended, $span->status, $span->exceptions]);
        }
        $this->assertSame([], Context::$stack, 'no span is left as the current one');
    }

    public function testABatchIsOneSpanWithItsCount(): void
    {
        $queue = $this->delayQueue('orders');
        Trace::push($queue, fn (array $headers): array => $queue->pushMany([['payload' => 1, 'headers' => $headers], ['payload' => 2, 'headers' => $headers]]));
        $jobs = [['payload' => 3, 'id' => 'c', 'receipt' => 'r', 'headers' => []]];
        Trace::push($queue, fn (): object => $queue->pushOnce($jobs));
        Trace::push($queue, fn (): ?string => $queue->tryPush('x', id: 'c'));

        $counts = array_map(static fn (Span $span): mixed => $span->attributes['messaging.batch.message_count'] ?? null, $this->tracer->spans);
        $this->assertSame([2, 1, null], $counts);
        $this->assertArrayNotHasKey('messaging.message.id', $this->tracer->spans[2]->attributes);
    }

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

    public function testARunMayBelongToTheTraceOfThePush(): void
    {
        $queue = $this->delayQueue('orders');
        $headers = ['traceparent' => substr(self::CAME, 0, -2) . 'ff', 'tracestate' => 'a=b'];
        $queue->pushMany([['payload' => 'x', 'headers' => $headers], ['payload' => 'y', 'headers' => $headers]]);
        $this->runDueJobs(new Pipeline(fn () => $queue->stop(), new Trace(Relation::Parent)), $queue);
        $this->assertCount(1, $this->tracer->spans[0]->links, 'nothing is around the worker');
        $around = Span::wrap(SpanContext::createFromRemoteParent(str_repeat('1', 32), str_repeat('2', 16)))->activate();
        $this->runDueJobs(new Pipeline(fn () => true, new Trace(Relation::Parent)), $queue);
        $around->detach();

        [, $span] = $this->tracer->spans;
        $this->assertSame('4bf92f3577b34da6a3ce929d0e0e4736', $span->getContext()->getTraceId());
        $this->assertSame('00f067aa0ba902b7', $span->parent?->getSpanId());
        $this->assertSame([3, 'a=b'], [$span->parent->getTraceFlags(), (string) $span->parent->getTraceState()]);
        $links = array_map(static fn (SpanContext $link): string => $link->getSpanId(), $span->links);
        $this->assertSame(['00f067aa0ba902b7', str_repeat('2', 16)], $links, 'the push, and the span around the worker');
    }

    public function testARunMayHaveNothingToDoWithThePush(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push('x', headers: ['traceparent' => self::CAME]);
        $this->runDueJobs(new Pipeline(fn () => true, new Trace(Relation::None)), $queue);

        [$span] = $this->tracer->spans;
        $this->assertSame([null, []], [$span->parent, $span->links]);
    }

    /** @dataProvider badHeaders */
    #[\PHPUnit\Framework\Attributes\DataProvider('badHeaders')]
    public function testARunWhoseHeadersAreNoneLinksToNothing(array $headers): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push('x', headers: $headers);
        $this->runDueJobs(new Pipeline(fn () => true, new Trace(Relation::Parent)), $queue);

        $this->assertSame([null, []], [$this->tracer->spans[0]->parent, $this->tracer->spans[0]->links]);
    }

    /** @return array<string, array{array<string, string>}> */
    public static function badHeaders(): array
    {
        return ['none' => [[]], 'no traceparent' => [['tracestate' => 'a=b']], 'a bad one' => [['traceparent' => 'x']]];
    }

    public function testJobsThatTheHandlerPushesBelongToItsSpan(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push('x', headers: ['traceparent' => self::CAME]);
        $next = null;
        $this->runDueJobs(new Pipeline(function () use (&$next): bool {
            $next = Trace::headers(self::CAME)['traceparent'];

            return true;
        }, new Trace()), $queue);

        $context = $this->tracer->spans[0]->getContext();
        $this->assertSame("00-{$context->getTraceId()}-{$context->getSpanId()}-01", $next, 'the current span counts, not what is given');
    }

    public function testTheStateOfTheCurrentSpanGoesAlong(): void
    {
        $scope = Span::wrap(SpanContext::createFromRemoteParent(str_repeat('1', 32), str_repeat('2', 16), 3, new TraceState('a=b')))->activate();
        $headers = Trace::headers();
        $scope->detach();

        $this->assertSame(['traceparent' => '00-' . str_repeat('1', 32) . '-' . str_repeat('2', 16) . '-03', 'tracestate' => 'a=b'], $headers);
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

    /** @return array{list<string>, InMemoryQueue} */
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

    /**
     * @param array<string, mixed> $attributes
     *
     * @return array<string, mixed>
     */
    private static function sorted(array $attributes): array
    {
        ksort($attributes);

        return $attributes;
    }
}
