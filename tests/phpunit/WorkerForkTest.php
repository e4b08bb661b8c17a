<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\State;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\Tests\Support\Worker;

/** A handler that forks: the job, the loop and the thread stay the parent's. */
final class WorkerForkTest extends ProcessTestCase
{
    private Worker $worker;

    /**
     * @dataProvider children
     *
     * @param list<string> $says
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('children')]
    public function testTheChildTakesNothingWithIt(string $child, array $says): void
    {
        $queue = $this->queue();
        $queue->push(['do' => 'fork', 'child' => $child], id: 'forks', ttr: 5);
        $queue->pushMany(array_map(static fn (int $n) => ['payload' => [], 'id' => "job-$n"], range(1, 30)));
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['prefetch' => 5, 'maxJobs' => 31]);
        $said = $this->worker->lines();
        $this->assertSame(0, $this->worker->exitCode());
        $this->assertSame($says, array_values(preg_grep('/^(child|parent)/', $said)), $this->worker->errors());
        $this->assertSame(['stopped MaxJobs'], array_values(preg_grep('/^stopped/', $said)));
        $this->assertCount(31, array_unique(preg_grep('/^started/', $said)));
        $this->assertCount(31, preg_grep('/^started/', $said), 'each once, and none by the child');
        $this->assertSame([31, 0, 0], [$queue->stats()->acked, $queue->stats()->failed, $queue->count()]);
    }

    /** @return array<string, array{string, list<string>}> */
    public static function children(): array
    {
        return [
            'it exits' => ['exit', ['child has 1 thread', 'parent saw 4']],
            'it uses the job' => ['ack', ['child has 1 thread', 'child DelayQueue\LeaseLostException', 'parent saw 0']],
            'it uses the queue' => ['push', ['child has 1 thread', 'child pushed and took it', 'parent saw 0']],
            'it breaks' => ['fatal', ['child has 1 thread', 'parent saw 255']],
            'it throws' => ['throw', ['child has 1 thread', 'parent saw 255']],
            'it returns' => ['return', ['child has 1 thread', 'parent saw 255']],
            'it outlives the handler' => ['stay', ['parent goes on']],
        ];
    }

    public function testAChildThatReturnsIsTold(): void
    {
        $this->queue()->push(['do' => 'fork', 'child' => 'return'], id: 'forks');
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['maxJobs' => 1]);
        $this->assertSame(0, $this->worker->exitCode());
        $this->assertStringContainsString(
            'Uncaught Error: DelayQueue::consume(): a forked child must end by itself, for instance with exit()',
            $this->worker->errors(),
        );
    }

    public function testSigtermEndsAChildAndNotItsParent(): void
    {
        $this->queue()->push(['do' => 'fork', 'child' => 'be killed'], id: 'forks');
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['maxJobs' => 1]);
        $this->worker->hear('parent saw signal ' . SIGTERM);
        $this->assertSame(['ended forks', 'stopped MaxJobs'], $this->worker->lines());
    }

    public function testASignalHandlerThatForksInTheIdleLoopKeepsItsChildOut(): void
    {
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['idleTimeout' => 60, 'maxJobs' => 20, 'prefetch' => 3, 'forkOnAlarm' => true]);
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 5, 'it waits');
        $this->worker->signal(SIGALRM);
        $this->worker->hear('forked');
        $this->queue()->pushMany(array_fill(0, 20, ['payload' => []]));
        $said = $this->worker->lines();
        $this->assertCount(20, preg_grep('/^started/', $said));
        $this->assertSame(0, $this->worker->exitCode());
        $this->assertSame([20, 0], [$this->queue()->stats()->acked, $this->queue()->count(State::Reserved)]);
        $this->assertStringContainsString('a forked child must end by itself', $this->worker->errors());
    }
}
