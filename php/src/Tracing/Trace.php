<?php

declare(strict_types=1);

namespace DelayQueue\Tracing;

use Closure;
use DelayQueue\Bury;
use DelayQueue\CancelledException;
use DelayQueue\JobInterface;
use DelayQueue\PushOnce;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use DelayQueue\ShutdownException;
use Throwable;

/**
 * Traces of W3C (headers traceparent and tracestate) that go along with jobs, and middleware that goes on with them where the jobs run:
 *
 *     $queue->push(['order' => 4711], delay: '15m', headers: Trace::headers());
 *
 *     $queue->consume(new Pipeline($handler, new Trace()));
 *
 * With open-telemetry/api it makes spans, too: `process orders` around each run, and `push orders` around what push() is given. Without it, it passes on
 * ids. Nothing that fails in tracing reaches handlers and pushes.
 */
final class Trace
{
    /** @var list<TraceContext> of the job that runs, and of those in whose handlers that happens */
    private static array $running = [];

    public function __construct(private readonly Relation $relation = Relation::Link)
    {
    }

    public function __invoke(JobInterface $job, callable $next): mixed
    {
        $origin = TraceContext::parse($job->headers[TraceContext::PARENT] ?? null, $job->headers[TraceContext::STATE] ?? null);
        $span = Span::process(
            $job->queue,
            ['messaging.message.id' => $job->id, 'messaging.delayqueue.attempt' => $job->attempts],
            $origin,
            $this->relation,
        );
        self::$running[] = ($this->relation === Relation::None ? null : $origin) ?? TraceContext::make();
        try {
            return $next($job);
        } catch (Throwable $error) {
            // The others only say "not now".
            if (!$error instanceof Release && !$error instanceof ShutdownException && !$error instanceof CancelledException) {
                $span?->fail($error instanceof Bury ? $error->getPrevious() ?? $error : $error);
            }
            throw $error;
        } finally {
            array_pop(self::$running);
            $span?->end();
        }
    }

    /**
     * The headers by which a job, or a request, goes on with the trace: that of the current span of OpenTelemetry; else the given one; else that of the job
     * that runs in a Pipeline with Trace; else a new one. Headers that are not as W3C has them count as missing.
     *
     * @param string|null $traceparent of the request that is answered: $_SERVER['HTTP_TRACEPARENT'] ?? null
     * @param string|null $tracestate of the same request
     *
     * @return array{traceparent: string, tracestate?: string}
     */
    public static function headers(?string $traceparent = null, ?string $tracestate = null): array
    {
        $context = Span::current()
            ?? TraceContext::parse($traceparent, $tracestate)
            ?? (self::$running === [] ? TraceContext::make() : self::$running[array_key_last(self::$running)]);

        return $context->headers();
    }

    /**
     * A push in a span `push orders`:
     *
     *     $id = Trace::push($queue, fn (array $headers): string => $queue->push($payload, headers: $headers));
     *
     * @template T
     *
     * @param QueueInterface $queue gives the span its name
     * @param Closure(array{traceparent: string, tracestate?: string}): T $push push(), tryPush(), pushMany(), pushOnce(), with these headers for each job
     *
     * @return T
     */
    public static function push(QueueInterface $queue, Closure $push): mixed
    {
        $span = Span::push($queue->name());
        try {
            $pushed = $push(self::headers());
            $span?->set(match (true) {
                is_string($pushed) => ['messaging.message.id' => $pushed],
                is_array($pushed) => ['messaging.batch.message_count' => count($pushed)],
                $pushed instanceof PushOnce => ['messaging.batch.message_count' => $pushed->added + $pushed->kept + $pushed->known],
                default => [],
            });

            return $pushed;
        } catch (Throwable $error) {
            $span?->fail($error);
            throw $error;
        } finally {
            $span?->end();
        }
    }
}
