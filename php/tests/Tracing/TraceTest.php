<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Tracing;

use DelayQueue\Job;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueInterface;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Tracing\Relation;
use DelayQueue\Tracing\Trace;
use OpenTelemetry\API\Globals;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** Headers that travel through Redis, in a PHP without OpenTelemetry. */
final class TraceTest extends TestCase
{
    use OnAnyStore;

    private const CAME = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

    protected function setUp(): void
    {
        $this->assertFalse(class_exists(Globals::class, false), 'the stand-in is for another process');
    }

    public function testTheTraceOfARequestReachesTheJobAndTheJobsThatItPushes(): void
    {
        $queue = $this->delayQueue();
        $id = $queue->push('first', headers: Trace::headers(self::CAME, 'a=b'));
        $this->assertSame(['traceparent' => self::CAME, 'tracestate' => 'a=b'], $queue->peek($id)?->headers);

        $seen = [];
        $handled = $this->runDueJobs(new Pipeline(static function (Job $job, QueueInterface $queue) use (&$seen): void {
            $seen[$job->payload] = Trace::headers();
            $job->payload === 'first' && $queue->pushMany([['payload' => 'second', 'headers' => Trace::headers()]]);
        }, new Trace()), $queue);

        $this->assertSame(2, $handled);
        $same = ['traceparent' => self::CAME, 'tracestate' => 'a=b'];
        $this->assertSame(['first' => $same, 'second' => $same], $seen);
        $this->assertNotSame($same, Trace::headers(), 'the runs are over');
    }

    /** @dataProvider withoutTrace */
    #[\PHPUnit\Framework\Attributes\DataProvider('withoutTrace')]
    public function testAJobWithoutATraceGetsANewOne(Relation $relation, array $headers): void
    {
        $queue = $this->delayQueue();
        $queue->push('x', headers: $headers);
        $seen = [];
        $this->runDueJobs(new Pipeline(static function () use (&$seen): void {
            $seen = [Trace::headers(), Trace::headers()];
        }, new Trace($relation)), $queue);

        $this->assertSame($seen[0], $seen[1], 'one for all of the run');
        $this->assertSame(['traceparent'], array_keys($seen[0]));
        $this->assertMatchesRegularExpression('/^00-[0-9a-f]{32}-[0-9a-f]{16}-03$/D', $seen[0]['traceparent']);
        $this->assertStringNotContainsString('4bf92f3577b34da6a3ce929d0e0e4736', $seen[0]['traceparent']);
    }

    /** @return array<string, array{Relation, array<string, string>}> */
    public static function withoutTrace(): array
    {
        return [
            'none' => [Relation::Link, []],
            'a bad one' => [Relation::Parent, ['traceparent' => 'x', 'tracestate' => 'a=b']],
            'an unwanted one' => [Relation::None, ['traceparent' => self::CAME, 'tracestate' => 'a=b']],
        ];
    }

    public function testAHandlerThatThrowsLeavesNoTraceBehind(): void
    {
        $queue = $this->delayQueue();
        $queue->push('x', headers: ['traceparent' => self::CAME]);
        $this->runDueJobs(new Pipeline(static fn () => throw new RuntimeException('no bank'), new Trace()), $queue);

        $this->assertNotSame(self::CAME, Trace::headers()['traceparent']);
    }

    public function testAPushGetsHeadersAndItsResultAndExceptionsPass(): void
    {
        $queue = $this->delayQueue();
        $id = Trace::push($queue, static fn (array $headers): string => $queue->push('x', headers: $headers + ['tenant' => 'acme']));
        $this->assertSame(['traceparent', 'tenant'], array_keys($queue->peek($id)?->headers ?? []));

        $this->expectException(\DelayQueue\DuplicateJobException::class);
        Trace::push($queue, static fn (array $headers): string => $queue->push('x', id: $id, headers: $headers));
    }
}
