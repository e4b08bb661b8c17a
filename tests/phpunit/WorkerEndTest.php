<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\State;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Relay;
use DelayQueue\Tests\Support\Worker;

/** A handler that ends the process: the job is failed at once with what PHP has to say, and the exit code is PHP's. */
final class WorkerEndTest extends ProcessTestCase
{
    private Worker $worker;

    /**
     * @dataProvider ends
     *
     * @param array<string, mixed> $deed
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('ends')]
    public function testTheJobDoesNotWaitForItsLease(array $deed, int $exitCode, string $reason): void
    {
        $queue = $this->queue();
        $queue->push([], id: 'before');
        $queue->push($deed, id: 'job', ttr: '1h');
        $queue->push([], id: 'behind', ttr: '1h');
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['prefetch' => 3]);
        $this->assertSame($exitCode, $this->worker->exitCode());
        $job = $queue->peek('job');
        $this->assertSame([State::Delayed, 1], [$job->state, $job->attempts]);
        $this->assertMatchesRegularExpression($reason, $job->lastError);
        $this->assertSame(1, $queue->stats()->failed);
        $this->assertSame(1, $queue->stats()->acked, 'what was done before is acknowledged');
        $behind = $queue->peek('behind');
        $this->assertSame([State::Ready, 0], [$behind->state, $behind->attempts]);
    }

    /** @return array<string, array{array<string, mixed>, int, string}> */
    public static function ends(): array
    {
        return [
            'exit(3)' => [['do' => 'exit', 'status' => 3], 3, '/^the handler called exit\(\) with status 3$/'],
            'exit() with words' => [['do' => 'exit', 'status' => 'good bye'], 1, '/status 0$/'],
            'exit(), and again at shutdown' => [['do' => 'exit later', 'status' => 3], 5, '/status 3$/'],
            'a fatal error' => [['do' => 'fatal'], 255, '/^broken beyond repair$/'],
            'no memory left' => [['do' => 'memory'], 255, '/^Allowed memory size of 16777216 bytes exhausted \(tried to allocate \d+ bytes\)$/'],
            'a function declared twice' => [['do' => 'compile'], 255, '/^Cannot redeclare/'],
        ];
    }

    /** @dataProvider throwables */
    #[\PHPUnit\Framework\Attributes\DataProvider('throwables')]
    public function testWhatIsThrownFailsTheJobAndTheLoopGoesOn(string $deed, string $reason): void
    {
        $this->queue()->push(['do' => $deed], id: 'job');
        $this->queue()->push([], id: 'behind');
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['maxJobs' => 2]);
        $this->assertSame(0, $this->worker->exitCode());
        $this->assertStringStartsWith("$reason\nin ", $this->queue()->peek('job')->lastError);
        $this->assertNull($this->queue()->peek('behind'));
    }

    /** @return array<string, array{string, string}> */
    public static function throwables(): array
    {
        return [
            'an exception' => ['throw', 'RuntimeException: thrown'],
            'an Error' => ['error', 'Error: an error'],
            'an Error of the engine' => ['undefined', 'Error: Call to undefined function this_function_does_not_exist()'],
        ];
    }

    /** @dataProvider outages */
    #[\PHPUnit\Framework\Attributes\DataProvider('outages')]
    public function testADyingProcessDoesNotWaitForARedisThatIsNotThere(string $how): void
    {
        $relay = new Relay($this->redis);
        $this->queue()->push(['do' => 'hold and exit', 'status' => 3], id: 'job');
        $this->queue()->pushMany(array_fill(0, 5, ['payload' => []]));
        $this->worker = new Worker($relay->dsn(), $this->queueName, ['prefetch' => 5]);
        $this->worker->hear('started job 1');
        $how === 'hangs' ? $relay->holdRequests() : $relay->stop();
        $this->worker->say('go');
        $said = (int) $this->worker->line();
        $this->assertSame(3, $this->worker->exitCode());
        preg_match('/^shut down at (\d+)$/m', implode("\n", $this->worker->lines()), $found);
        $relay->stop();

        $this->assertLessThan(0.4, Machine::without(((int) $found[1] - $said) / 1e9), 'it tries for 200 ms');
    }

    /** @return array<string, array{string}> */
    public static function outages(): array
    {
        return ['it hangs' => ['hangs'], 'it is gone' => ['is gone']];
    }
}
