<?php

/** The classes of the stand-in for OpenTelemetry. They do what a test can see, and Globals::$provider takes the place of an SDK. */

declare(strict_types=1);

namespace OpenTelemetry\Context {

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
    use OpenTelemetry\Context\ScopeInterface;
    use Throwable;

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
