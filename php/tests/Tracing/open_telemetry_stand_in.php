<?php

/**
 * A stand-in for open-telemetry/api and open-telemetry/context, with the parts that DelayQueue\Tracing uses, so that its spans can be tested without
 * the packages. Names and signatures are those of open-telemetry/opentelemetry-php at b9c9963f (10 August 2026: 1.8.x-dev of the API).
 * Globals::$provider takes the place of an SDK.
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

    /** It keeps one span, and nothing else. */
    final class Context implements ContextInterface
    {
        /** @var list<Context> */
        public static array $stack = [];

        public ?ImplicitContextKeyedInterface $span = null;

        public static function getCurrent(): ContextInterface
        {
            return self::$stack === [] ? new self() : self::$stack[array_key_last(self::$stack)];
        }

        public function activate(): ScopeInterface
        {
            self::$stack[] = $this;

            return new class () implements ScopeInterface {
                public function detach(): int
                {
                    array_pop(Context::$stack);

                    return 0;
                }
            };
        }

        public function withContextValue(ImplicitContextKeyedInterface $value): ContextInterface
        {
            return $value->storeInContext($this);
        }
    }
}

namespace OpenTelemetry\API {

    use OpenTelemetry\API\Trace\TracerProviderInterface;

    final class Globals
    {
        public static TracerProviderInterface $provider;

        public static function tracerProvider(): TracerProviderInterface
        {
            return self::$provider;
        }
    }
}

namespace OpenTelemetry\API\Trace {

    use OpenTelemetry\Context\Context;
    use OpenTelemetry\Context\ContextInterface;
    use OpenTelemetry\Context\ImplicitContextKeyedInterface;
    use OpenTelemetry\Context\ScopeInterface;
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

    final class TraceState implements TraceStateInterface
    {
        public function __construct(private readonly ?string $rawTracestate = null)
        {
        }

        public function __toString(): string
        {
            return (string) $this->rawTracestate;
        }
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

    final class SpanContext implements SpanContextInterface
    {
        public function __construct(
            private readonly string $traceId,
            private readonly string $spanId,
            private readonly int $traceFlags,
            private readonly ?TraceStateInterface $traceState,
        ) {
        }

        public static function createFromRemoteParent(
            string $traceId,
            string $spanId,
            int $traceFlags = TraceFlags::DEFAULT,
            ?TraceStateInterface $traceState = null,
        ): SpanContextInterface {
            return new self($traceId, $spanId, $traceFlags, $traceState);
        }

        public function getTraceId(): string
        {
            return $this->traceId;
        }

        public function getSpanId(): string
        {
            return $this->spanId;
        }

        public function getTraceFlags(): int
        {
            return $this->traceFlags;
        }

        public function getTraceState(): ?TraceStateInterface
        {
            return $this->traceState;
        }

        public function isValid(): bool
        {
            return trim($this->traceId, '0') !== '' && trim($this->spanId, '0') !== '';
        }
    }

    /** One class for all spans here: what is done to it can be read. */
    class Span implements SpanInterface
    {
        /** @var array<string, mixed> */
        public array $attributes = [];

        /** @var array{string, ?string}|null */
        public ?array $status = null;

        /** @var list<Throwable> */
        public array $exceptions = [];

        public int $ended = 0;

        /** @param list<SpanContextInterface> $links */
        public function __construct(
            private readonly SpanContextInterface $context,
            public readonly string $name = '',
            public readonly ?int $kind = null,
            public readonly ?SpanContextInterface $parent = null,
            public readonly array $links = [],
        ) {
        }

        public static function getCurrent(): SpanInterface
        {
            $context = Context::getCurrent();
            assert($context instanceof Context);

            return $context->span ?? new self(new SpanContext(str_repeat('0', 32), str_repeat('0', 16), 0, null));
        }

        public static function wrap(SpanContextInterface $spanContext): SpanInterface
        {
            return new self($spanContext);
        }

        public function getContext(): SpanContextInterface
        {
            return $this->context;
        }

        public function setAttribute(string $key, bool|int|float|string|array|null $value): SpanInterface
        {
            return $this->setAttributes([$key => $value]);
        }

        public function setAttributes(iterable $attributes): SpanInterface
        {
            $this->attributes = [...$attributes] + $this->attributes;

            return $this;
        }

        public function recordException(Throwable $exception, iterable $attributes = []): SpanInterface
        {
            $this->exceptions[] = $exception;

            return $this;
        }

        public function setStatus(string $code, ?string $description = null): SpanInterface
        {
            $this->status = [$code, $description];

            return $this;
        }

        public function end(?int $endEpochNanos = null): void
        {
            ++$this->ended;
        }

        public function activate(): ScopeInterface
        {
            return Context::getCurrent()->withContextValue($this)->activate();
        }

        public function storeInContext(ContextInterface $context): ContextInterface
        {
            $new = new Context();
            $new->span = $this;

            return $new;
        }
    }
}
