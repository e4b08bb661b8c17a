<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Tracing;

use DelayQueue\Middleware\Pipeline;
use DelayQueue\Tracing\Relation;
use DelayQueue\Tracing\Trace;
use OpenTelemetry\API\Trace\Span;
use OpenTelemetry\API\Trace\SpanContext;
use OpenTelemetry\API\Trace\SpanKind;
use OpenTelemetry\API\Trace\TraceState;
use OpenTelemetry\Context\Context;

/**
 * Which spans there are, and how they belong together.
 *
 * @runTestsInSeparateProcesses
 *
 * @preserveGlobalState disabled
 */
#[\PHPUnit\Framework\Attributes\RunTestsInSeparateProcesses]
#[\PHPUnit\Framework\Attributes\PreserveGlobalState(false)]
final class SpansTest extends SpansCase
{
    private const CAME = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

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
        Trace::push($queue, fn (): ?string => $queue->tryPush(['payload' => 'x', 'id' => 'c']));

        $counts = array_map(static fn (Span $span): mixed => $span->attributes['messaging.batch.message_count'] ?? null, $this->tracer->spans);
        $this->assertSame([2, 1, null], $counts);
        $this->assertArrayNotHasKey('messaging.message.id', $this->tracer->spans[2]->attributes);
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
