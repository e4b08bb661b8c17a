<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Tracing;

use DelayQueue\TimeoutException;
use OpenTelemetry\API\Trace\Span;
use OpenTelemetry\API\Trace\SpanBuilderInterface;
use OpenTelemetry\API\Trace\SpanContext;
use OpenTelemetry\API\Trace\SpanContextInterface;
use OpenTelemetry\API\Trace\SpanInterface;
use OpenTelemetry\API\Trace\TracerInterface;
use OpenTelemetry\API\Trace\TracerProviderInterface;
use OpenTelemetry\Context\Context;
use OpenTelemetry\Context\ContextInterface;
use RuntimeException;

/** Provider, tracer and builder of the stand-in: it keeps all spans. */
final class Tracer implements TracerProviderInterface, TracerInterface, SpanBuilderInterface
{
    /** @var list<Span> */
    public array $spans = [];

    /** @var list<mixed> the arguments of getTracer() */
    public array $scope = [];

    /** A method of it that throws from now on. */
    public string $broken = '';

    private string $name = '';

    private ?int $kind = null;

    private ContextInterface|false|null $parent = null;

    /** @var array<string, mixed> */
    private array $attributes = [];

    /** @var list<SpanContextInterface> */
    private array $links = [];

    public function getTracer(string $name, ?string $version = null, ?string $schemaUrl = null, iterable $attributes = []): TracerInterface
    {
        $this->breaks(__FUNCTION__);
        $this->scope = [$name, $version, $schemaUrl];

        return $this;
    }

    public function spanBuilder(string $spanName): SpanBuilderInterface
    {
        [$this->name, $this->kind, $this->parent, $this->attributes, $this->links] = [$spanName, null, null, [], []];

        return $this;
    }

    public function setParent(ContextInterface|false|null $context): SpanBuilderInterface
    {
        $this->parent = $context;

        return $this;
    }

    public function addLink(SpanContextInterface $context, iterable $attributes = []): SpanBuilderInterface
    {
        $this->links[] = $context;

        return $this;
    }

    public function setAttributes(iterable $attributes): SpanBuilderInterface
    {
        $this->attributes = [...$attributes];

        return $this;
    }

    public function setSpanKind(int $spanKind): SpanBuilderInterface
    {
        $this->kind = $spanKind;

        return $this;
    }

    public function startSpan(): SpanInterface
    {
        $this->breaks(__FUNCTION__);
        if ($this->broken === 'time') {
            throw new TimeoutException('timed out');
        }
        $around = $this->parent ?? Context::getCurrent();
        $parent = $around instanceof Context ? $around->span?->getContext() : null;
        $traceId = $parent?->getTraceId() ?? bin2hex(random_bytes(16));
        $context = new SpanContext($traceId, bin2hex(random_bytes(8)), 1, $parent?->getTraceState());
        $span = $this->broken === 'span' ? new BrokenSpan($context) : new Span($context, $this->name, $this->kind, $parent, $this->links);
        $span->attributes = $this->attributes;

        return $this->spans[] = $span;
    }

    private function breaks(string $method): void
    {
        if ($this->broken === $method) {
            throw new RuntimeException("$method() is broken");
        }
    }
}
