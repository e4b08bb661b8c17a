<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Middleware;

use DelayQueue\Job;
use DelayQueue\Middleware\CircuitBreaker;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use DelayQueue\State;
use RuntimeException;
use Throwable;

final class BreakerTest extends MiddlewareCase
{
    /** @var list<string> ids that reached the handler */
    private array $reached = [];

    public function testJobsGoBackUncountedWhileItIsOpenAndTheTrialClosesIt(): void
    {
        $queue = $this->delayQueue();
        $isDown = true;
        $pipeline = $this->breaking(new CircuitBreaker(2, within: '1m', pause: '5m'), static function () use (&$isDown): bool {
            return !$isDown ?: throw new RuntimeException('down');
        });
        $this->push($queue, 'bank-1', 'bank-2', 'bank-3', 'bank-4');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached('bank-1', 'bank-2');
        foreach (['bank-3', 'bank-4'] as $id) {
            $info = $queue->peek($id);
            $this->assertSame([State::Delayed, 0, null], [$info?->state, $info?->attempts, $info?->lastError]);
            $wait = $info->dueAt - $queue->now();
            $this->assertGreaterThan(290.0, $wait);
            $this->assertLessThanOrEqual(330.0, $wait);
        }

        // The trial fails: they wait once more.
        $this->travel('331s');
        $this->runDueJobs($pipeline, $queue);
        $this->assertCount(1, $this->reached);
        $this->assertSame(1, $queue->peek($this->reached[0])?->attempts);
        $this->reached = [];

        $isDown = false;
        $this->travel('331s');
        $this->runDueJobs($pipeline, $queue);
        $this->assertCount(1, $this->reached, 'the one that has not been tried');
        $this->travel('1h');
        $this->runDueJobs($pipeline, $queue);
        $this->assertCount(0, $queue);
    }

    public function testAnOpenOneLetsOtherTasksAndQueuesPass(): void
    {
        $orders = $this->delayQueue('orders');
        $mails = $this->delayQueue('mails');
        $handler = static fn (Job $job): bool => $job->id !== 'bank-1' ?: throw new RuntimeException('down');
        $pipeline = $this->breaking(new CircuitBreaker(1, '1m', '5m'), $handler);
        $this->push($orders, 'bank-1', 'bank-2', 'post-1');
        $this->push($mails, 'bank-3');
        $this->runDueJobs($pipeline, $orders);
        $this->runDueJobs($pipeline, $mails);

        $this->assertReached('bank-1', 'post-1', 'bank-3');
    }

    public function testJobsOfOneKeyShareIt(): void
    {
        $queue = $this->delayQueue();
        $breaker = new CircuitBreaker(1, '1m', '5m', key: static fn (Job $job): string => $job->headers['host'] ?? '7');
        $pipeline = $this->breaking($breaker, static fn () => throw new RuntimeException('down'));
        $queue->push('x', id: 'a', headers: ['host' => 'a.example']);
        $queue->push('x', id: 'b', headers: ['host' => 'a.example']);
        $queue->push('x', id: 'c');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached('a', 'c');
    }

    /** @return array<string, array{Throwable|false, bool}> */
    public static function endings(): array
    {
        return [
            'false' => [false, true],
            'an exception' => [new RuntimeException('down'), true],
            'too long' => [new \DelayQueue\TimeoutException('too long'), true],
            'Release' => [new Release('1h'), false],
            'Bury' => [new \DelayQueue\Bury('no use'), false],
            'lost' => [new \DelayQueue\LeaseLostException('gone'), false],
            'cancelled' => [new \DelayQueue\CancelledException('not any more'), false],
            'the end of the worker' => [new \DelayQueue\ShutdownException('SIGTERM'), false],
        ];
    }

    /** @dataProvider endings */
    #[\PHPUnit\Framework\Attributes\DataProvider('endings')]
    public function testOnlyFailuresOpenIt(Throwable|false $ending, bool $opens): void
    {
        $queue = $this->delayQueue();
        $pipeline = $this->breaking(new CircuitBreaker(1, '1m', '5m'), static fn (): bool => $ending === false ? false : throw $ending);
        $this->push($queue, 'bank-1', 'bank-2');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached(...($opens ? ['bank-1'] : ['bank-1', 'bank-2']));
    }

    public function testOnlyTheNamedExceptionsCount(): void
    {
        $queue = $this->delayQueue();
        $breaker = new CircuitBreaker(1, '1m', '5m', of: [\DomainException::class, \Countable::class]);
        $pipeline = $this->breaking($breaker, static fn (Job $job): bool => match ($job->id) {
            'bank-1' => throw new RuntimeException('no order'),
            'bank-2' => false,
            'bank-3' => throw new \DomainException('down'),
        });
        $this->push($queue, 'bank-1', 'bank-2', 'bank-3', 'bank-4');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached('bank-1', 'bank-2', 'bank-3');
    }

    public function testFailuresThatAreLongAgoDoNotCount(): void
    {
        $queue = $this->delayQueue();
        $pipeline = $this->breaking(new CircuitBreaker(3, '1m', '5m'), static fn () => throw new RuntimeException('down'));
        $this->push($queue, 'bank-1', 'bank-2');
        $this->runDueJobs($pipeline, $queue);
        $this->travel('61s');
        $this->push($queue, 'bank-3', 'bank-4', 'bank-5', 'bank-6');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached('bank-1', 'bank-2', 'bank-3', 'bank-4', 'bank-5');
    }

    public function testAJobThatItsHandlerGaveBackIsNoFailure(): void
    {
        $queue = $this->delayQueue();
        $pipeline = $this->breaking(new CircuitBreaker(1, '1m', '5m'), static function (Job $job): bool {
            $job->release('1h');

            return false;
        });
        $this->push($queue, 'bank-1', 'bank-2');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached('bank-1', 'bank-2');
    }

    public function testATrialThatDecidesNothingIsFollowedByAnother(): void
    {
        $queue = $this->delayQueue();
        $down = new RuntimeException('down');
        $ends = [$down, $down, new Release('1h'), $down];
        $pipeline = $this->breaking(new CircuitBreaker(2, '1m', '5m'), static function () use (&$ends): never {
            throw array_shift($ends);
        });
        $this->push($queue, 'bank-1', 'bank-2');
        $this->runDueJobs($pipeline, $queue);
        $this->travel('6m');
        $this->push($queue, 'bank-3', 'bank-4', 'bank-5');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached('bank-1', 'bank-2', 'bank-3', 'bank-4');
    }

    public function testThePauseAfterATrialBeginsWithItsEnd(): void
    {
        $queue = $this->delayQueue();
        $pipeline = $this->breaking(new CircuitBreaker(2, '1m', '5m'), function (Job $job): never {
            $job->id === 'bank-3' && $this->travel('4m');
            throw new RuntimeException('down');
        });
        $this->push($queue, 'bank-1', 'bank-2');
        $this->runDueJobs($pipeline, $queue);
        $this->travel('6m');
        $this->push($queue, 'bank-3');
        $this->runDueJobs($pipeline, $queue);
        $this->travel('2m');
        $this->push($queue, 'bank-4');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached('bank-1', 'bank-2', 'bank-3');
    }

    public function testFailuresBeforeATrialThatSucceededDoNotCount(): void
    {
        $queue = $this->delayQueue();
        $handler = static fn (Job $job): bool => $job->id === 'bank-3' ?: throw new RuntimeException('down');
        $pipeline = $this->breaking(new CircuitBreaker(2, '1d', '5m'), $handler);
        $this->push($queue, 'bank-1', 'bank-2');
        $this->runDueJobs($pipeline, $queue);
        $this->travel('6m');
        $this->push($queue, 'bank-3', 'bank-4', 'bank-5', 'bank-6');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached('bank-1', 'bank-2', 'bank-3', 'bank-4', 'bank-5');
    }

    public function testATrialThatRunsALoopOfItsOwnLetsNoSecondOneThrough(): void
    {
        $queue = $this->delayQueue();
        $pipeline = null;
        $pipeline = $this->breaking(new CircuitBreaker(1, '1m', '5m'), function (Job $job) use (&$pipeline): void {
            $job->id === 'bank-1' && throw new RuntimeException('down');
            $job->id === 'bank-2' && $this->delayQueue()->drain($pipeline);
        });
        $this->push($queue, 'bank-1');
        $this->runDueJobs($pipeline, $queue);
        $this->travel('6m');
        $this->push($queue, 'bank-2', 'bank-3');
        $this->runDueJobs($pipeline, $queue);

        $this->assertReached('bank-1', 'bank-2');
        $this->assertSame([State::Delayed, 0], [$queue->peek('bank-3')?->state, $queue->peek('bank-3')?->attempts]);
    }

    private function breaking(CircuitBreaker $breaker, callable $handler): Pipeline
    {
        return new Pipeline(function (Job $job, QueueInterface $queue) use ($handler): mixed {
            $this->reached[] = $job->id;

            return $handler($job, $queue);
        }, $breaker);
    }

    private function assertReached(string ...$ids): void
    {
        $this->assertSame($ids, $this->reached);
        $this->reached = [];
    }
}
