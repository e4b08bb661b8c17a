<?php

/**
 * A stand-in for open-telemetry/api and open-telemetry/context, with the parts that DelayQueue\Tracing uses, so that its spans can be tested without
 * the packages. Names and signatures are those of open-telemetry/opentelemetry-php at b9c9963f (10 August 2026: 1.8.x-dev of the API).
 */

declare(strict_types=1);

namespace OpenTelemetry\Context {

    interface ScopeInterface
    {
        public function detach(): int;
    }

    interface ImplicitContextKeyedInterface
    {
        public function activate(): ScopeInterface;

        public function storeInContext(ContextInterface $context): ContextInterface;
    }

    interface ContextInterface
    {
        public static function getCurrent(): ContextInterface;

        public function activate(): ScopeInterface;

        public function withContextValue(ImplicitContextKeyedInterface $value): ContextInterface;
    }
}

namespace OpenTelemetry\API\Trace {

    use OpenTelemetry\Context\ContextInterface;
    use OpenTelemetry\Context\ImplicitContextKeyedInterface;
    use Throwable;

    interface TracerProviderInterface
    {
        public function getTracer(string $name, ?string $version = null, ?string $schemaUrl = null, iterable $attributes = []): TracerInterface;
    }

    interface TracerInterface
    {
        public function spanBuilder(string $spanName): SpanBuilderInterface;
    }

    interface SpanBuilderInterface
    {
        public function setParent(ContextInterface|false|null $context): SpanBuilderInterface;

        public function addLink(SpanContextInterface $context, iterable $attributes = []): SpanBuilderInterface;

        public function setAttributes(iterable $attributes): SpanBuilderInterface;

        public function setSpanKind(int $spanKind): SpanBuilderInterface;

        public function startSpan(): SpanInterface;
    }

    interface SpanInterface extends ImplicitContextKeyedInterface
    {
        public static function getCurrent(): SpanInterface;

        public static function wrap(SpanContextInterface $spanContext): SpanInterface;

        public function getContext(): SpanContextInterface;

        public function setAttribute(string $key, bool|int|float|string|array|null $value): SpanInterface;

        public function setAttributes(iterable $attributes): SpanInterface;

        public function recordException(Throwable $exception, iterable $attributes = []): SpanInterface;

        public function setStatus(string $code, ?string $description = null): SpanInterface;

        public function end(?int $endEpochNanos = null): void;
    }

    interface SpanKind
    {
        public const KIND_PRODUCER = 3;
        public const KIND_CONSUMER = 4;
    }

    interface StatusCode
    {
        public const STATUS_ERROR = 'Error';
    }

    interface TraceFlags
    {
        public const DEFAULT = 0x00;
    }

    interface TraceStateInterface
    {
        public function __toString(): string;
    }

    interface SpanContextInterface
    {
        public static function createFromRemoteParent(
            string $traceId,
            string $spanId,
            int $traceFlags = TraceFlags::DEFAULT,
            ?TraceStateInterface $traceState = null,
        ): SpanContextInterface;

        public function getTraceId(): string;

        public function getSpanId(): string;

        public function getTraceFlags(): int;

        public function getTraceState(): ?TraceStateInterface;

        public function isValid(): bool;
    }
}
