<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Tracing;

use Error;
use OpenTelemetry\API\Trace\Span;
use OpenTelemetry\API\Trace\SpanInterface;
use Throwable;

/** A span of an exporter that is away. */
final class BrokenSpan extends Span
{
    public function setAttributes(iterable $attributes): SpanInterface
    {
        throw new Error('no attributes');
    }

    public function recordException(Throwable $exception, iterable $attributes = []): SpanInterface
    {
        throw new Error('no exceptions');
    }

    public function end(?int $endEpochNanos = null): void
    {
        throw new Error('no end');
    }
}
