<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Worker;

/** A job that ends every worker that takes it, under something that starts them again. */
final class WorkerPoisonTest extends ProcessTestCase
{
    private Worker $worker;

    /**
     * @dataProvider poisons
     *
     * @param array<string, mixed> $deed
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('poisons')]
    public function testItIsTriedAsOftenAsItMayBeThenBuriedAndTheOthersAreDone(array $deed, string $reason): void
    {
        $queue = $this->queue(['backoff' => \DelayQueue\Backoff::fixed('50ms'), 'ttr' => 0.5]);
        $started = $this->untilOnlyThePoisonIsLeft($queue, $deed, 100, ['prefetch' => 10]);
        $this->assertCount(3, $started['poison']);
        $this->assertCount(101, $started);
        $poison = $queue->peek('poison');
        $this->assertSame([State::Buried, 3], [$poison->state, $poison->attempts]);
        $this->assertMatchesRegularExpression($reason, $poison->lastError);
        $this->assertSame(100, $queue->stats()->acked);
    }

    public function testItDoesNotTakeItsBatchAlong(): void
    {
        $queue = $this->queue(['backoff' => \DelayQueue\Backoff::fixed(0), 'ttr' => 1, 'maxAttempts' => 3]);
        $started = $this->untilOnlyThePoisonIsLeft($queue, ['do' => 'kill', 'signal' => SIGKILL], 40, ['prefetch' => 50]);
        $this->assertSame([1, 40], [$queue->count(State::Buried), $queue->stats()->acked], 'only the poisoned one is buried');
        $this->assertSame([1, 2, 3], $started['poison']);
        unset($started['poison']);
        $attempts = array_unique(array_merge(...array_values($started)));
        $this->assertSame([1], array_values($attempts), 'a crash costs a neighbour nothing');
    }

    public function testBehindOthersItHasOneRunThatDoesNotCount(): void
    {
        $queue = $this->queue(['backoff' => \DelayQueue\Backoff::fixed(0), 'ttr' => 1, 'maxAttempts' => 3]);
        $queue->pushMany([['payload' => [], 'id' => 'first'], ['payload' => [], 'id' => 'second']]);
        $deed = ['do' => 'kill', 'signal' => SIGKILL];
        $started = $this->untilOnlyThePoisonIsLeft($queue, $deed, 5, ['prefetch' => 50]);
        $this->assertSame([1, 1, 2, 3], $started['poison']);
        $poison = $queue->peek('poison');
        $this->assertSame([State::Buried, 3, 4], [$poison->state, $poison->attempts, $poison->timeouts]);
        // The first of a batch counts; here it was done, and not acknowledged yet.
        unset($started['poison'], $started['first']);
        $this->assertSame([1], array_values(array_unique(array_merge(...array_values($started)))));
    }

    /**
     * Starts one worker after the other.
     *
     * @param array<string, mixed> $deed
     * @param array<string, mixed> $options of consume()
     *
     * @return array<string, list<int>> the attempts that were started of each job
     */
    private function untilOnlyThePoisonIsLeft(DelayQueue $queue, array $deed, int $others, array $options): array
    {
        $queue->push($deed, id: 'poison', maxAttempts: 3);
        $queue->pushMany(array_map(static fn (int $n) => ['payload' => [], 'id' => "job-$n"], range(1, $others)));
        $attempts = [];
        for ($workers = 0, $deadline = microtime(true) + 90; $queue->count() > 1 || $queue->count(State::Buried) < 1; $workers++) {
            $this->assertLessThan($deadline, microtime(true), 'it ends');
            $this->worker = new Worker($this->redis->dsn(), $this->queueName, $options + ['maxTime' => 1.5, 'idleTimeout' => 0.2]);
            foreach (preg_grep('/^started/', $this->worker->lines()) as $line) {
                [, $id, $attempt] = explode(' ', $line);
                $attempts[$id][] = (int) $attempt;
            }
            $this->worker->kill();
        }
        $this->assertGreaterThanOrEqual(3, $workers);

        return $attempts;
    }

    /** @return array<string, array{array<string, mixed>, string}> */
    public static function poisons(): array
    {
        return [
            'a segmentation fault' => [['do' => 'recurse'], '/^lease expired, held by [\w.-]+:\d+(, [\w.-]+:\d+){2}$/D'],
            'a signal' => [['do' => 'kill', 'signal' => SIGSEGV], '/^lease expired, held by [\w.-]+:\d+(, [\w.-]+:\d+){2}$/D'],
            'hunger for memory' => [['do' => 'memory'], '/^Allowed memory size/'],
        ];
    }
}
