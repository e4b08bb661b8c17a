<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use DelayQueue\Bury;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\Middleware\CircuitBreaker;
use DelayQueue\Middleware\DontRetry;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\Middleware\RetryOnly;
use DelayQueue\QueueInterface;
use DelayQueue\RateLimited;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\TimeoutException;
use DomainException;
use InvalidArgumentException;
use LogicException;
use RuntimeException;
use Throwable;

final class RetryTest extends MiddlewareCase
{
    public function testAnExceptionThatIsNotToBeRetriedBuriesTheJobAtOnce(): void
    {
        $queue = $this->delayQueue();
        $heard = null;
        $queue->on(Event::Buried, static function (Event $event, ?Job $job, ?Throwable $error) use (&$heard): void {
            $heard = $error;
        });
        $this->push($queue, 'named', 'derived', 'other', 'false');
        $this->runThrowing($queue, new DontRetry(LogicException::class, \JsonException::class), [
            'named' => new \JsonException('no JSON'),
            'derived' => $error = new InvalidArgumentException('no order'),
            'other' => new RuntimeException('no bank'),
        ]);

        $this->assertSame(State::Buried, $queue->peek('named')?->state);
        $this->assertSame([State::Buried, 1], [$queue->peek('derived')?->state, $queue->peek('derived')?->attempts]);
        $this->assertSame('InvalidArgumentException: no order in ' . __FILE__ . ":{$error->getLine()}", $queue->peek('derived')?->lastError);
        $this->assertSame([Bury::class, $error], [$heard::class, $heard->getPrevious()], 'who listens hears of the cause');
        $this->assertSame([State::Delayed, State::Delayed], [$queue->peek('other')?->state, $queue->peek('false')?->state]);
        $this->assertStringStartsWith("RuntimeException: no bank\n", (string) $queue->peek('other')?->lastError);
    }

    public function testOnlyTheNamedExceptionsAreRetried(): void
    {
        $queue = $this->delayQueue();
        $this->push($queue, 'named', 'interface', 'other', 'false');
        $this->runThrowing($queue, new RetryOnly(RuntimeException::class, \DelayQueue\Exception::class), [
            'named' => new RuntimeException('no bank'),
            'interface' => new \DelayQueue\PayloadException('no JSON'),
            'other' => new DomainException('no order'),
        ]);

        $this->assertSame([State::Delayed, State::Delayed], [$queue->peek('named')?->state, $queue->peek('interface')?->state]);
        $this->assertSame(State::Buried, $queue->peek('other')?->state);
        $this->assertStringStartsWith('DomainException: no order in ', (string) $queue->peek('other')?->lastError);
        $this->assertSame(State::Delayed, $queue->peek('false')?->state, 'false is no exception');
    }

    public function testADecisionOfTheHandlerIsNoExceptionToJudge(): void
    {
        $queue = $this->delayQueue();
        $this->push($queue, 'released', 'buried', 'limited');
        $this->runThrowing($queue, new RetryOnly(DomainException::class), [
            'released' => new Release('1h', 'not now'),
            'buried' => new Bury('no use'),
            'limited' => new RateLimited('1h', message: 'too many'),
        ]);
        $this->assertSame([State::Delayed, 'not now'], [$queue->peek('released')?->state, $queue->peek('released')?->lastError]);
        $this->assertSame([State::Buried, 'no use'], [$queue->peek('buried')?->state, $queue->peek('buried')?->lastError]);
        $this->assertSame([State::Ready, 'too many'], [$queue->peek('limited')?->state, $queue->peek('limited')?->lastError]);
    }

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

    /** @param array<string, Throwable> $errors by id; the others return false */
    private function runThrowing(QueueInterface $queue, callable $middleware, array $errors): void
    {
        $this->runDueJobs(new Pipeline(static fn (Job $job): bool => isset($errors[$job->id]) ? throw $errors[$job->id] : false, $middleware), $queue);
    }
}
