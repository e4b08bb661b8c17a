<?php

declare(strict_types=1);

namespace DelayQueue\Tracing;

use Closure;
use DelayQueue\LeaseLostException;
use DelayQueue\ShutdownException;
use DelayQueue\TimeoutException;
use OpenTelemetry\API\Globals;
use OpenTelemetry\API\Trace\Span as ApiSpan;
use OpenTelemetry\API\Trace\SpanContext;
use OpenTelemetry\API\Trace\SpanInterface;
use OpenTelemetry\API\Trace\SpanKind;
use OpenTelemetry\API\Trace\StatusCode;
use OpenTelemetry\API\Trace\TraceState;
use OpenTelemetry\Context\Context;
use OpenTelemetry\Context\ScopeInterface;
use Throwable;

/**
 * A span of OpenTelemetry, where open-telemetry/api is installed. Whatever fails in there is written to PHP's error log, once in a process, and
 * reaches no caller.
 *
 * @internal
 */
final class Span
{
    private const TRACER = 'delayqueue';

    /** The version of the semantic conventions by which spans and attributes are named here. */
    private const SCHEMA = 'https://opentelemetry.io/schemas/1.44.0';

    private static ?bool $isInstalled = null;

    private static bool $hasComplained = false;

    private function __construct(private readonly SpanInterface $span, private readonly ScopeInterface $scope)
    {
    }

    /** A span that is now the current one. Null without OpenTelemetry. */
    public static function push(string $queue): ?self
    {
        return self::start('push', 'send', $queue, [], null, Relation::None);
    }

    /**
     * Such a span around the run of a job.
     *
     * @param array<string, string|int> $attributes
     */
    public static function process(string $queue, array $attributes, ?TraceContext $origin, Relation $relation): ?self
    {
        return self::start('process', 'process', $queue, $attributes, $origin, $relation);
    }

    /** The current place in a trace; null where there is none. */
    public static function current(): ?TraceContext
    {
        return self::quietly(static function (): ?TraceContext {
            $context = ApiSpan::getCurrent()->getContext();

            return $context->isValid()
                ? new TraceContext($context->getTraceId(), $context->getSpanId(), $context->getTraceFlags(), (string) $context->getTraceState())
                : null;
        });
    }

    /** @param array<string, string|int> $attributes */
    private static function start(string $name, string $type, string $queue, array $attributes, ?TraceContext $origin, Relation $relation): ?self
    {
        return self::quietly(static function () use ($name, $type, $queue, $attributes, $origin, $relation): self {
            $builder = Globals::tracerProvider()->getTracer(self::TRACER, null, self::SCHEMA)->spanBuilder("$name $queue")
                ->setSpanKind($type === 'send' ? SpanKind::KIND_PRODUCER : SpanKind::KIND_CONSUMER)
                ->setAttributes([
                    'messaging.system' => 'delayqueue',
                    'messaging.destination.name' => $queue,
                    'messaging.operation.name' => $name,
                    'messaging.operation.type' => $type,
                ] + $attributes);
            if ($origin !== null && $relation !== Relation::None) {
                $remote = SpanContext::createFromRemoteParent($origin->traceId, $origin->spanId, $origin->flags, new TraceState($origin->state));
                $builder->addLink($remote);
                if ($relation === Relation::Parent) {
                    $around = ApiSpan::getCurrent()->getContext();
                    $around->isValid() && $builder->addLink($around);
                    $builder->setParent(Context::getCurrent()->withContextValue(ApiSpan::wrap($remote)));
                }
            }
            $span = $builder->startSpan();

            return new self($span, $span->activate());
        });
    }

    /** @param array<string, string|int> $attributes */
    public function set(array $attributes): void
    {
        self::quietly(fn () => $this->span->setAttributes($attributes));
    }

    /** The run or the push has failed. */
    public function fail(Throwable $error): void
    {
        self::quietly(function () use ($error): void {
            $this->span->setAttribute('error.type', get_debug_type($error));
            $this->span->setStatus(StatusCode::STATUS_ERROR, $error->getMessage());
            $this->span->recordException($error);
        });
    }

    /** The span that was current before is so again. */
    public function end(): void
    {
        self::quietly(fn () => $this->scope->detach());
        self::quietly(fn () => $this->span->end());
    }

    /**
     * @template T
     *
     * @param Closure(): T $do
     *
     * @return T|null
     */
    private static function quietly(Closure $do): mixed
    {
        self::$isInstalled ??= class_exists(Globals::class);
        if (!self::$isInstalled) {
            return null;
        }
        try {
            return $do();
        } catch (TimeoutException | ShutdownException | LeaseLostException $interruption) {
            // Thrown by the loop, to end the handler wherever it is.
            throw $interruption;
        } catch (Throwable $error) {
            self::$hasComplained || error_log('delayqueue could not trace: ' . get_debug_type($error) . ": {$error->getMessage()}");
            self::$hasComplained = true;

            return null;
        }
    }
}
