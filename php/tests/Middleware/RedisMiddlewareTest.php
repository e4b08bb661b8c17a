<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use DelayQueue\Job;
use DelayQueue\Middleware\CircuitBreaker;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\Middleware\RetryOnly;
use DelayQueue\State;
use DelayQueue\Testing\InteractsWithDelayQueue;
use DelayQueue\TimeoutException;
use LogicException;

final class RedisMiddlewareTest extends MiddlewareCase
{
    use InteractsWithDelayQueue;

    public function testARunThatTookTooLongIsAFailureToMiddleware(): void
    {
        $queue = $this->delayQueue();
        $queue->push('slow', id: 'a', timeout: '50ms');
        $queue->push('next', id: 'b');
        $queue->push('next', id: 'c');
        $breaker = new CircuitBreaker(1, '1m', '5m', of: [TimeoutException::class]);
        $slowly = static function (Job $job): void {
            while ($job->id === 'a') {
                usleep(1000);
            }
        };
        $queue->consume(new Pipeline($slowly, new RetryOnly(LogicException::class), $breaker), stopWhenEmpty: true, prefetch: 3);

        $this->assertSame(State::Buried, $queue->peek('a')?->state);
        $this->assertStringStartsWith(TimeoutException::class . ': timed out after 0.05 s in ', (string) $queue->peek('a')?->lastError);
        $this->assertSame([State::Delayed, State::Delayed], [$queue->peek('b')?->state, $queue->peek('c')?->state]);
    }
}
