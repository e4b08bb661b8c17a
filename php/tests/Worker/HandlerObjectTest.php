<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use Closure;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Job;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\StopReason;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Worker\HandlerObject;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;
use RuntimeException;

final class HandlerObjectTest extends TestCase
{
    use OnAnyStore;

    /** @return array<string, array{Closure(Job): mixed, list<string>, ?State}> */
    public static function endings(): array
    {
        $twice = ['attempt 1', 'attempt 2'];

        return [
            'returns' => [static fn (): bool => true, ['attempt 1', 'a succeeded'], null],
            'recovers' => [
                static fn (Job $job): bool => $job->attempts > 1 ?: throw new RuntimeException('not yet'),
                [...$twice, 'a succeeded'],
                null,
            ],
            'throws' => [static fn () => throw new RuntimeException('no bank'), [...$twice, 'a failed: no bank'], State::Buried],
            'returns false' => [static fn (): bool => false, [...$twice, 'a failed: the handler returned false'], State::Buried],
            'throws Bury' => [static fn () => throw new Bury('no use'), ['attempt 1', 'a failed: no use'], State::Buried],
            'throws Release' => [
                static fn (Job $job): bool => $job->attempts > 3 ?: throw new Release('1m'),
                [...$twice, 'attempt 3', 'attempt 4', 'a succeeded'],
                null,
            ],
            'settles' => [static fn (Job $job) => $job->bury('by hand'), ['attempt 1'], State::Buried],
        ];
    }

    /**
     * @dataProvider endings
     *
     * @param Closure(Job): mixed $does
     * @param list<string> $notes
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('endings')]
    public function testItHearsOfTheEndAndNotOfAnAttemptThatIsRepeated(Closure $does, array $notes, ?State $state): void
    {
        $recorder = new Recorder($does);
        $handler = new HandlerObject($recorder);
        $queue = $this->delayQueue();
        $queue->push('x', id: 'a', maxAttempts: 2, backoff: Backoff::fixed('1m'));

        for ($rounds = 0; $rounds < 5; $rounds++) {
            $this->runDueJobs($handler, $queue);
            $this->travel('61s');
        }

        $this->assertSame($notes, $recorder->notes);
        $this->assertSame($state, $queue->peek('a')?->state);
    }

    public function testAKickedJobIsToldOfAgain(): void
    {
        $recorder = new Recorder(static fn () => throw new Bury('no use'));
        $handler = new HandlerObject($recorder);
        $queue = $this->delayQueue();
        $queue->push('x', id: 'a');

        $this->runDueJobs($handler, $queue);
        $queue->kick();
        $recorder->does = static fn (): bool => true;
        $this->runDueJobs($handler, $queue);

        $this->assertSame(['attempt 1', 'a failed: no use', 'attempt 1', 'a succeeded'], $recorder->notes);
    }

    public function testAnAttemptThatTookTooLongIsAFailureLikeOthers(): void
    {
        $recorder = new Recorder(static function (): void {
            while (true) {
                usleep(1000);
            }
        });
        $queue = $this->delayQueue();
        $queue->push('x', id: 'a', maxAttempts: 1, timeout: '100ms');

        $this->runDueJobs(new HandlerObject($recorder), $queue);

        $this->assertBuried('a', reason: 'timed out after 0.1 s');
        $this->assertSame(['attempt 1', 'a failed: timed out after 0.1 s'], $recorder->notes);
    }

    public function testAHookThatThrowsIsLoggedAndChangesNothing(): void
    {
        $handler = new class () {
            public function __invoke(Job $job): bool
            {
                return $job->payload;
            }

            public function afterSucceeded(): void
            {
                throw new RuntimeException('no mail');
            }

            public function afterFailed(): void
            {
                throw new \TypeError('wrong program');
            }
        };
        $queue = $this->delayQueue();
        $queue->push(true, id: 'good');
        $queue->push(false, id: 'bad', maxAttempts: 1);
        $queue->push(true, id: 'next');

        // As frameworks do it.
        set_error_handler(static fn (int $level, string $message) => throw new \ErrorException($message));
        $log = (string) tempnam(sys_get_temp_dir(), 'delayqueue-log-');
        $before = (string) ini_set('error_log', $log);
        try {
            $stopped = $queue->consume(new HandlerObject($handler), stopWhenEmpty: true);
            $logged = (string) file_get_contents($log);
        } finally {
            ini_set('error_log', $before);
            restore_error_handler();
            unlink($log);
        }

        $this->assertSame(StopReason::Empty, $stopped);
        $this->assertSame(['buried' => 1, 'acked' => 2], ['buried' => $queue->count(), 'acked' => $queue->stats()->acked]);
        $this->assertSame(2, substr_count($logged, 'threw RuntimeException: no mail'));
        $this->assertStringContainsString("afterFailed() of job 'bad' in queue 'default' threw TypeError: wrong program", $logged);
    }

    /** Handlers that the description admits. */
    public function testNobodyIsToldOfALastAttemptThatItsWorkerDidNotSurvive(): void
    {
        $recorder = new Recorder(static fn (): bool => true);
        $queue = $this->delayQueue();
        $queue->push('x', id: 'a', ttr: 5, maxAttempts: 1);
        $this->assertSame('a', $this->delayQueue()->reserve()?->id);

        $this->travel(6);
        $this->assertSame(0, $this->runDueJobs(new HandlerObject($recorder), $queue));

        $this->assertBuried('a', reason: 'lease expired');
        $this->assertSame([], $recorder->notes);
    }

    public function testEachObjectHearsOfItsOwnJobsOnceThoughTheQueueIsTheSame(): void
    {
        $queue = $this->delayQueue();
        $one = new Recorder(static fn (): bool => true);
        $other = new Recorder(static fn (): bool => true);
        $handlers = [new HandlerObject($one), new HandlerObject($other)];
        foreach (['a', 'b', 'c', 'd'] as $index => $id) {
            $queue->push('x', id: $id);
            $queue->drain($handlers[$index % 2]);
        }

        $this->assertSame(['attempt 1', 'a succeeded', 'attempt 1', 'c succeeded'], $one->notes);
        $this->assertSame(['attempt 1', 'b succeeded', 'attempt 1', 'd succeeded'], $other->notes);
    }

    public function testAnObjectThatCannotHandleIsRefused(): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('the handler is neither callable nor an object with handle(): ArrayObject');
        new HandlerObject(new \ArrayObject());
    }
}
