<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work and drain with a file that returns a Chunk. */
final class CliChunkTest extends CliTestCase
{
    use EndsPools;

    private const CHUNK = __DIR__ . '/../phpunit/programs/cli_chunk.php';

    protected function redisOptions(): array
    {
        return ['appendonly' => 'yes', 'appendfsync' => 'always'];
    }

    public function testEachJobOfAChunkIsALineWithItsOutcome(): void
    {
        $deeds = ['nothing' => 'done', 'fail' => 'failed', 'bury' => 'buried', 'release' => 'released', 'ack' => 'settled'];
        $this->push(...array_keys($deeds));
        $result = $this->cli('work', self::CHUNK, '--stop-when-empty', '--log=json');
        $this->assertSame(0, $result->exitCode, $result->errors);
        $lines = $this->lines($result->output);
        $outcomes = array_column($lines, 'outcome', 'id');
        ksort($outcomes);
        ksort($deeds);
        $this->assertSame($deeds, $outcomes);
        $this->assertSame('RuntimeException: not now', array_column($lines, 'reason', 'id')['fail']);
        $this->assertCount(5, array_filter(array_column($lines, 'run_ms'), is_float(...)));
        $this->assertCount(1, array_unique(array_column($this->handled(), 2)));
        $this->assertSame(['begin', 'begin', 'begin', 'begin', 'begin', 'end'], array_slice(array_column($this->handled(), 0), 0, 6), 'in one call');
    }

    public function testAHandlerThatEndsTheProcessFailsAllJobsOfItsChunkAtOnce(): void
    {
        $this->push('nothing', 'exit', 'ack');
        $result = $this->cli('work', self::CHUNK, '--log=json');
        $this->assertSame(7, $result->exitCode, $result->errors);
        $this->assertSame(['nothing' => 'died', 'exit' => 'died', 'ack' => 'died'], array_column($this->lines($result->output), 'outcome', 'id'));
        foreach (['nothing', 'exit', 'ack'] as $id) {
            $job = $this->queue()->peek($id);
            $this->assertSame([State::Delayed, 1, 0], [$job->state, $job->attempts, $job->timeouts]);
            $this->assertStringContainsString('exit() with status 7', $job->lastError);
        }
    }

    public function testASignalLetsTheChunkInHandFinishAndTakesNoOther(): void
    {
        $this->queue()->push(['do' => 'wait'], id: 'a', ttr: 1);
        $this->queue()->push([], id: 'b', ttr: 1);
        $worker = $this->start('work', self::CHUNK);
        $this->holder('b');
        $worker->signal(SIGTERM);
        $worker->signal(SIGTERM);
        $leases = fn (): array => array_map(fn (string $id): ?float => $this->queue()->peek($id)?->leaseUntil, ['a', 'b']);
        [$first, $second] = $leases();
        Wait::until(static fn (): bool => $leases()[0] > $first + 0.5 && $leases()[1] > $second + 0.5, 20, 'the leases of all are renewed');
        $this->queue()->push([], id: 'c');
        $this->letGo('a');
        $this->assertSame(0, $this->finish($worker)->exitCode);
        $this->assertSame(['a', 'b'], $this->done());
        $this->assertSame([1, State::Ready], [count($this->queue()), $this->queue()->peek('c')->state]);
    }

    public function testJobsOfAWorkerThatIsKilledComeAloneToAnother(): void
    {
        $this->queue()->push(['do' => 'wait'], id: 'a', ttr: 0.5);
        $this->queue()->push([], id: 'b', ttr: 0.5);
        $this->queue()->push([], id: 'c', ttr: 0.5);
        $worker = $this->start('work', self::CHUNK);
        $this->holder('c');
        $this->assertSame([], $this->done());
        $worker->kill();
        $this->letGo('a');
        Wait::until(fn (): bool => $this->queue()->count(State::Ready) === 3, 20, 'the leases end');
        $attempts = array_map(fn (string $id): ?int => $this->queue()->peek($id)?->attempts, ['a', 'b', 'c']);
        $this->assertSame([1, 1, 0], $attempts, 'of the first, and the first of those that filled the chunk');
        $this->cliExpecting(0, 'work', self::CHUNK, '--max-jobs=3');
        $deeds = array_map(static fn (array $deed): string => "$deed[0] $deed[1]", array_slice($this->handled(), 3));
        sort($deeds);
        $this->assertSame(['begin a', 'begin b', 'begin c', 'end a', 'end b', 'end c'], $deeds);
        $order = array_column(array_slice($this->handled(), 3), 0);
        $this->assertSame(['begin', 'end', 'begin', 'end', 'begin', 'end'], $order, 'one after the other');
        $this->assertCount(0, $this->queue());
    }

    public function testSigUsr2HoldsItUntilSigCont(): void
    {
        $worker = $this->start('work', self::CHUNK);
        Wait::until(fn (): bool => $this->redis->waiters($this->queueName) === 1, 20, 'it waits');
        $worker->signal(SIGUSR2);
        Wait::until(fn (): bool => $this->redis->waiters($this->queueName) === 0, 20, 'it waits for no jobs');
        $this->push('nothing', 'ack');
        $this->assertSame([], $this->handled());
        $worker->signal(SIGCONT);
        Wait::until(fn (): bool => count($this->done()) === 2, 20, 'it goes on');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode());
    }

    /** @dataProvider limits */
    #[\PHPUnit\Framework\Attributes\DataProvider('limits')]
    public function testATimeLimitIsForAllJobsOfTheChunk(string $limit, bool $isTold, string $outcome, State $state, int $attempts): void
    {
        $this->push('nothing', 'sleep');
        $worker = $this->start('work', self::CHUNK, '--log=json', '--max-jobs=2', $limit);
        $this->holder('sleep');
        $isTold && $worker->signal(SIGTERM);
        $result = $this->finish($worker);
        $this->assertSame(0, $result->exitCode, $result->errors);
        $this->assertSame(['nothing' => $outcome, 'sleep' => $outcome], array_column($this->lines($result->output), 'outcome', 'id'));
        foreach (['nothing', 'sleep'] as $id) {
            $this->assertSame([$state, $attempts], [$this->queue()->peek($id)->state, $this->queue()->peek($id)->attempts]);
        }
    }

    /** @return array<string, array{string, bool, string, State, int}> */
    public static function limits(): array
    {
        return ['of a run' => ['--timeout=300ms', false, 'timedOut', State::Delayed, 1], 'of the end' => ['--shutdown-timeout=300ms', true, 'released', State::Ready, 0]];
    }

    public function testAChunkIsSettledWhenRedisIsBack(): void
    {
        $this->queue()->push(['do' => 'wait'], id: 'a');
        $this->push('nothing', 'fail');
        $worker = $this->start('work', self::CHUNK, '--log=json', '--max-jobs=3');
        $this->holder('fail');
        $this->redis->kill();
        $this->letGo('a');
        Wait::until(fn (): bool => count($this->done()) === 3, 20, 'the handler has returned');
        $this->redis->start();
        $outcomes = array_column($this->lines($this->finish($worker)->output), 'outcome', 'id');
        ksort($outcomes);
        $this->assertSame(['a' => 'done', 'fail' => 'failed', 'nothing' => 'done'], $outcomes);
        $this->assertSame(1, count($this->queue()));
    }

    public function testOptionsThatAreForSingleJobsAreRefused(): void
    {
        foreach (['--prefetch=2' => '--prefetch', '--throw-on-cancel' => '--throw-on-cancel'] as $option => $name) {
            $this->assertSame("delayqueue: $name is not for a handler that is a Chunk\n", $this->cliExpecting(2, 'work', self::CHUNK, $option));
        }
    }

    public function testDrainRunsWhatIsDueInChunks(): void
    {
        $this->push('nothing', 'fail', 'ack');
        $this->assertSame(2, substr_count($this->cliExpecting(0, 'drain', self::CHUNK, '--limit=2'), "\n"));
        $this->cliExpecting(0, 'drain', self::CHUNK);
        $this->assertSame(['nothing', 'fail', 'ack'], $this->done());
    }

    public function testAPoolOfChunksStopsAndStarts(): void
    {
        $parent = $this->start('work', self::CHUNK, '--processes=2', '--max-jobs=1');
        $this->ready($parent);
        $this->push('nothing', 'ack', 'fail');
        Wait::until(fn (): bool => count($this->done()) === 3, 20, 'all are done');
        $this->endWell($parent);
    }

    /** Jobs with the names of their deeds as ids. */
    private function push(string ...$deeds): void
    {
        $this->queue()->pushMany(array_map(static fn (string $deed): array => ['payload' => ['do' => $deed], 'id' => $deed], $deeds));
    }

    /** @return list<array<string, mixed>> */
    private function lines(string $output): array
    {
        return array_map(static fn (string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR), explode("\n", trim($output)));
    }
}
