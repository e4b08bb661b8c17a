<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use Closure;
use DelayQueue\ConnectionException;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\JobCall;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\RateLimited;
use DelayQueue\ServerException;
use DelayQueue\Testing;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\TimeoutException;
use DelayQueue\Worker\ChunkAnswers;
use DelayQueue\Worker\ChunkSettling;
use DelayQueue\Worker\Listeners;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** How the jobs of a chunk are settled where Redis, or the time, is against it. */
final class ChunkSettlingTest extends TestCase
{
    use OnAnyStore;

    /** @var list<string> */
    private array $told = [];

    public function testItTriesAgainWhileRedisIsAway(): void
    {
        $calls = 0;
        $queue = $this->queue(static function (JobInterface ...$jobs) use (&$calls): int {
            ++$calls > 2 || throw new ConnectionException('away');
            array_map(static fn (JobInterface $job) => $job->ack(), $jobs);

            return count($jobs);
        });
        $tries = 0;
        $failing = Testing::job('x', id: 'b', listener: static function (JobCall $call) use (&$tries): void {
            ++$tries > 1 || throw new ConnectionException('away');
        });

        $this->settle($queue, [Testing::job('x', id: 'a'), $failing], ['b' => new RuntimeException('no')]);

        $this->assertSame(['succeeded a', 'failed b'], $this->told);
        $this->assertSame([3, 2, 'fail'], [$calls, $tries, Testing::outcome($failing)?->name]);
    }

    public function testItGivesUpWhenTheLeaseEnds(): void
    {
        $queue = $this->queue(static fn () => throw new ConnectionException('away'));
        $this->settle($queue, [Testing::job('x', id: 'a', ttr: 0.2)], null);
        $this->assertSame(['leaseLost a'], $this->told);
    }

    public function testAJobThatIsLostAfterALostAnswerWasSettledByTheTryBefore(): void
    {
        $tries = 0;
        $job = Testing::job('x', id: 'a', listener: static function () use (&$tries): void {
            if (++$tries > 1) {
                throw new LeaseLostException('it is gone');
            }
            $error = new ConnectionException('the answer is lost');
            $error->ambiguous = true;
            throw $error;
        });
        $this->settle($this->queue(), [$job], false);
        $this->assertSame(['failed a'], $this->told);
    }

    public function testARefusalThatStaysIsThrown(): void
    {
        $queue = $this->queue(static function (): never {
            $error = new ServerException('NOPERM');
            $error->redisCode = 'NOPERM';
            throw $error;
        });
        $this->expectException(ServerException::class);
        $this->settle($queue, [Testing::job('x')], null);
    }

    public function testATimeLimitIsToldBeforeTheFailure(): void
    {
        $job = Testing::job('x', id: 'a');
        $this->settle($this->queue(), [$job], new TimeoutException('timed out after 5 s'));
        $this->assertSame(['timedOut a', 'failed a'], $this->told);
        $this->assertSame('timed out after 5 s', Testing::outcome($job)?->reason);
    }

    public function testALostJobClosesNothing(): void
    {
        $lost = Testing::job('x', id: 'a', listener: static fn () => throw new LeaseLostException('it is gone'));
        try {
            $lost->touch();
            $this->fail('it is not lost');
        } catch (LeaseLostException) {
            // As a heartbeat hears of it.
        }
        $queue = $this->createMock(QueueInterface::class);
        $queue->expects($this->never())->method('rateLimit');
        $this->settle($queue, [$lost], new RateLimited('1m'));
        $this->assertSame(['leaseLost a'], $this->told);
    }

    private function queue(?Closure $ackMany = null): QueueInterface
    {
        $queue = $this->createStub(QueueInterface::class);
        $queue->method('peek')->willReturn(null);
        $queue->method('ackMany')->willReturnCallback($ackMany ?? static fn () => 0);

        return $queue;
    }

    /** @param non-empty-list<Job> $jobs */
    private function settle(QueueInterface $queue, array $jobs, mixed $answer): void
    {
        $listeners = new Listeners();
        foreach (Event::cases() as $event) {
            $listeners->add($event, function (Event $event, JobInterface $job): void {
                $this->told[] = "$event->value $job->id";
            });
        }
        (new ChunkSettling($queue, $queue, $listeners, 0.1))->settle($jobs, new ChunkAnswers($jobs, $answer));
    }
}
