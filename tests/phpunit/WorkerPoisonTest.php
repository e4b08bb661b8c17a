<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

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
        $queue->push($deed, id: 'poison', maxAttempts: 3);
        $queue->pushMany(array_map(static fn (int $n) => ['payload' => [], 'id' => "job-$n"], range(1, 100)));
        $started = [];
        $starts = 0;
        for ($deadline = microtime(true) + 90; $queue->count() !== $queue->count(State::Buried) || $queue->count() === 0;) {
            $this->assertLessThan($deadline, microtime(true), 'it ends');
            $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['prefetch' => 10, 'maxTime' => 1.5, 'idleTimeout' => 0.2]);
            $starts++;
            array_push($started, ...preg_grep('/^started/', $this->worker->lines()));
            $this->worker->kill();
        }
        $count = array_count_values(array_map(static fn (string $line) => explode(' ', $line)[1], $started));
        $this->assertSame(3, $count['poison']);
        $this->assertCount(101, $count);
        $this->assertGreaterThanOrEqual(3, $starts);
        $poison = $queue->peek('poison');
        $this->assertSame([State::Buried, 3], [$poison->state, $poison->attempts]);
        $this->assertMatchesRegularExpression($reason, $poison->lastError);
        $this->assertSame(100, $queue->stats()->acked);
    }

    public function testItDoesNotTakeItsBatchAlong(): void
    {
        $queue = $this->queue(['backoff' => \DelayQueue\Backoff::fixed(0), 'ttr' => 1, 'maxAttempts' => 3]);
        $queue->push(['do' => 'kill', 'signal' => SIGKILL], id: 'poison');
        $queue->pushMany(array_map(static fn (int $n) => ['payload' => [], 'id' => "job-$n"], range(1, 40)));
        $attempts = [];
        for ($deadline = microtime(true) + 90; $queue->count() > 1 || $queue->peek('poison')->state !== State::Buried;) {
            $this->assertLessThan($deadline, microtime(true), 'it ends');
            $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['prefetch' => 50, 'maxTime' => 1, 'idleTimeout' => 0.2]);
            foreach (preg_grep('/^started/', $this->worker->lines()) as $line) {
                [, $id, $attempt] = explode(' ', $line);
                $attempts[$id] = max($attempts[$id] ?? 0, (int) $attempt);
            }
            $this->worker->kill();
        }
        $this->assertSame([1, 40], [$queue->count(State::Buried), $queue->stats()->acked], 'only the poisoned one is buried');
        $this->assertSame(3, $attempts['poison']);
        unset($attempts['poison']);
        $this->assertLessThanOrEqual(2, max($attempts), 'a crash costs a neighbour one attempt, once');
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
