<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work and drain with --batch: a handler that gets a list of jobs. */
final class CliBulkTest extends CliTestCase
{
    use EndsPools;

    private const LISTS = __DIR__ . '/../phpunit/programs/cli_bulk.php';

    protected function redisOptions(): array
    {
        return ['appendonly' => 'yes', 'appendfsync' => 'always'];
    }

    public function testEachJobOfABatchIsALineWithItsOutcome(): void
    {
        $command = ['work', self::LISTS, '--batch=9', '--stop-when-empty', '--log=json'];
        $this->push('nothing', 'fail', 'bury', 'release', 'ack');
        $lines = $this->lines($this->cliExpecting(0, ...$command));
        $outcomes = array_column($lines, 'outcome', 'id');
        $settled = array_fill_keys(['ack', 'bury', 'fail', 'release'], 'settled');
        $this->assertEquals(['nothing' => 'done'] + $settled, $outcomes);
        $this->assertCount(5, array_filter(array_column($lines, 'run_ms'), is_float(...)));
        $deeds = array_column($this->handled(), 0);
        $this->assertSame([...array_fill(0, 5, 'begin'), ...array_fill(0, 5, 'end')], $deeds, 'in one call');

        $this->queue()->purge();
        $this->push('nothing', 'throw');
        $lines = $this->lines($this->cliExpecting(0, ...$command));
        $this->assertSame(['nothing' => 'failed', 'throw' => 'failed'], array_column($lines, 'outcome', 'id'));
        $this->assertSame('RuntimeException: not now', array_column($lines, 'reason', 'id')['nothing']);
    }

    public function testAHandlerThatEndsTheProcessFailsAllJobsOfItsBatchAtOnce(): void
    {
        $this->push('nothing', 'exit', 'ack');
        $result = $this->cli('work', self::LISTS, '--batch=10', '--log=json');
        $this->assertSame(7, $result->exitCode, $result->errors);
        $outcomes = array_column($this->lines($result->output), 'outcome', 'id');
        $this->assertSame(['nothing' => 'died', 'exit' => 'died', 'ack' => 'died'], $outcomes);
        $this->assertSame([1, 1, 1], $this->attempts('nothing', 'exit', 'ack'));
        foreach ($this->queue()->list(State::Delayed) as $job) {
            $this->assertStringContainsString('exit() with status 7', $job->lastError);
        }
    }

    public function testASignalLetsTheBatchInHandFinishAndTakesNoOther(): void
    {
        $this->queue()->push(['do' => 'wait'], id: 'a', ttr: 1);
        $this->queue()->push([], id: 'b', ttr: 1);
        $worker = $this->start('work', self::LISTS, '--batch=10');
        $this->holder('b');
        $worker->signal(SIGTERM);
        $worker->signal(SIGTERM);
        foreach (['a', 'b'] as $id) {
            $lease = fn (): ?float => $this->queue()->peek($id)?->leaseUntil;
            $before = $lease();
            Wait::until(static fn (): bool => $lease() > $before + 0.5, 20, "the lease of $id is renewed");
        }
        $this->queue()->push([], id: 'c');
        $this->letGo('a');
        $this->assertSame(0, $this->finish($worker)->exitCode);
        $this->assertSame(['a', 'b'], $this->done());
        $this->assertSame([1, State::Ready], [count($this->queue()), $this->queue()->peek('c')->state]);
    }

    public function testABatchThatWaitsForMoreIsGivenBackUncountedWhenASignalComes(): void
    {
        $this->push('nothing', 'ack');
        $worker = $this->start('work', self::LISTS, '--batch=10', '--within=1h');
        foreach ([SIGUSR2, SIGCONT, SIGTERM] as $signal) {
            $signal === SIGCONT || $this->waitFor(State::Reserved);
            $worker->signal($signal);
            $signal === SIGCONT || $this->waitFor(State::Ready);
        }
        $this->assertSame(0, $worker->exitCode());
        $this->assertSame([], $this->handled());
        $this->assertSame([0, 0], $this->attempts('nothing', 'ack'));
    }

    public function testJobsOfAWorkerThatIsKilledComeAloneToAnother(): void
    {
        foreach (['a', 'b', 'c'] as $id) {
            $this->queue()->push(['do' => 'wait'], id: $id, ttr: 0.5);
        }
        $worker = $this->start('work', self::LISTS, '--batch=10');
        $this->holder('c');
        $worker->kill();
        foreach (['a', 'b', 'c'] as $id) {
            $this->letGo($id);
        }
        $this->waitFor(State::Ready, 3);
        $this->assertSame([1, 0, 0], $this->attempts('a', 'b', 'c'), 'only the first one counts an attempt');
        $this->cliExpecting(0, 'work', self::LISTS, '--batch=10', '--max-jobs=3');
        $again = array_slice($this->handled(), 3);
        $this->assertSame(['begin', 'end', 'begin', 'end', 'begin', 'end'], array_column($again, 0), 'each alone');
        $this->assertEqualsCanonicalizing(['a', 'b', 'c'], array_unique(array_column($again, 1)));
        $this->assertCount(0, $this->queue());
    }

    public function testAJobOnItsLastAttemptThatComesWhileABatchFillsIsNotBuriedUnrun(): void
    {
        $this->queue()->push(['do' => 'kill'], id: 'a', ttr: 3);
        $this->queue()->push([], id: 'last', delay: '300ms', ttr: 3, maxAttempts: 1);
        $worker = $this->start('work', self::LISTS, '--batch=9', '--within=700ms');
        $this->holder('a');
        $worker->exitCode();
        Wait::until(fn (): bool => $this->queue()->count(State::Reserved) === 0, 20, 'all leases have ended');
        $last = $this->queue()->peek('last');
        $this->assertSame([State::Ready, 0], [$last->state, $last->attempts]);
    }

    public function testAJobThatKillsItsWorkerIsBuriedAloneWhateverItsBatchWas(): void
    {
        foreach (['a', 'kill', 'b', 'c'] as $id) {
            $this->queue()->push(['do' => $id === 'kill' ? 'kill' : 'nothing'], id: $id, ttr: 0.3, maxAttempts: 2);
        }
        $parent = $this->start('work', self::LISTS, '--batch=3', '--processes=2');
        $isAlone = fn (): bool => $this->queue()->count(State::Buried) === 1 && count($this->queue()) === 1;
        Wait::until($isAlone, 30, 'the others are done');
        $this->assertSame(State::Buried, $this->queue()->peek('kill')?->state);
        $this->endWell($parent);
    }

    /** @dataProvider limits */
    #[\PHPUnit\Framework\Attributes\DataProvider('limits')]
    public function testATimeLimitIsForAllJobsOfTheBatch(
        string $limit,
        bool $isTold,
        string $outcome,
        State $state,
        int $attempts,
    ): void {
        $this->push('nothing', 'sleep');
        $worker = $this->start('work', self::LISTS, '--batch=10', '--log=json', '--max-jobs=2', $limit);
        $this->holder('sleep');
        $isTold && $worker->signal(SIGTERM);
        $result = $this->finish($worker);
        $this->assertSame(0, $result->exitCode, $result->errors);
        $outcomes = array_column($this->lines($result->output), 'outcome', 'id');
        $this->assertSame(['nothing' => $outcome, 'sleep' => $outcome], $outcomes);
        $this->assertSame(2, $this->queue()->count($state));
        $this->assertSame([$attempts, $attempts], $this->attempts('nothing', 'sleep'));
    }

    /** @return array<string, array{string, bool, string, State, int}> */
    public static function limits(): array
    {
        return [
            'of a run' => ['--timeout=300ms', false, 'timedOut', State::Delayed, 1],
            'of the end' => ['--shutdown-timeout=300ms', true, 'released', State::Ready, 0],
        ];
    }

    public function testABatchIsSettledWhenRedisIsBack(): void
    {
        $this->queue()->push(['do' => 'wait'], id: 'a');
        $this->push('nothing', 'throw');
        $worker = $this->start('work', self::LISTS, '--batch=2', '--log=json', '--max-jobs=3');
        $this->holder('nothing');
        $this->redis->kill();
        $this->letGo('a');
        Wait::until(fn (): bool => count($this->done()) === 2, 20, 'the handler has returned');
        $this->redis->start();
        $outcomes = array_column($this->lines($this->finish($worker)->output), 'outcome', 'id');
        $this->assertSame(['a' => 'done', 'nothing' => 'done', 'throw' => 'failed'], $outcomes);
        $this->assertSame(1, count($this->queue()));
    }

    public function testWrongUseIsSaidBeforeTheFirstJob(): void
    {
        $single = $this->file('single.php', '<?php return fn (DelayQueue\Job $job) => 1;');
        $piped = $this->file('piped.php', '<?php return new DelayQueue\Middleware\Pipeline(fn (array $jobs) => 1);');
        foreach ([
            [['work', self::LISTS], 'array $jobs of the handler gets a DelayQueue\JobInterface'],
            [['work', $single, '--batch=5'], 'DelayQueue\Job $job of the handler gets a list of jobs'],
            [['drain', $piped, '--batch=5'], 'DelayQueue\JobInterface $job of the handler gets a list of jobs'],
            [['work', self::LISTS, '--batch=5', '--prefetch=2'], ': --prefetch goes without --batch'],
            [['work', self::LISTS, '--batch=5', '--throw-on-cancel'], ': --throw-on-cancel goes without --batch'],
            [['work', $single, '--within=1s'], ': --within is for --batch'],
            [['drain', self::LISTS, '--batch=501'], ': --batch must be a whole number from 1 to 500'],
            [['drain', self::LISTS, '--batch=5', '--within=soon', '--create'], ': within must be'],
        ] as [$arguments, $message]) {
            $this->assertStringContainsString($message, $this->cliExpecting(2, ...$arguments));
        }
    }

    public function testDrainRunsWhatIsDueInBatches(): void
    {
        $this->push('nothing', 'fail', 'ack');
        $output = $this->cliExpecting(0, 'drain', self::LISTS, '--batch=10', '--limit=2');
        $this->assertSame(2, substr_count($output, "\n"));
        $this->assertSame(['begin', 'begin', 'end', 'end'], array_column($this->handled(), 0));
        $this->cliExpecting(0, 'drain', self::LISTS, '--batch=10');
        $this->assertSame(['nothing', 'fail', 'ack'], $this->done());
    }

    public function testHooksOfAnObjectHearOfEachJob(): void
    {
        $handler = $this->file('object.php', <<<'PHP'
            <?php return new class () {
                public function handle(iterable $jobs): void
                {
                    foreach ($jobs as $job) {
                        $job->payload === 'throw' && throw new DelayQueue\Bury('no');
                    }
                }

                public function afterSucceeded(DelayQueue\Job $job): void
                {
                    echo "succeeded $job->id\n";
                }

                public function afterFailed(DelayQueue\Job $job, Throwable $error): void
                {
                    echo "failed $job->id {$error->getMessage()}\n";
                }
            };
            PHP);
        foreach (['a' => 'x', 'b' => 'x', 'c' => 'throw', 'd' => 'x'] as $id => $payload) {
            $this->queue()->push($payload, id: $id);
        }
        $told = "succeeded a\nsucceeded b\nfailed c no\nfailed d no\n";
        $this->assertSame($told, $this->cliExpecting(0, 'drain', '-q', $handler, '--batch=2'));
    }

    private function waitFor(State $state, int $jobs = 2): void
    {
        Wait::until(fn (): bool => $this->queue()->count($state) === $jobs, 20, "$jobs are $state->value");
    }

    /** Jobs with the names of their deeds as ids. */
    private function push(string ...$deeds): void
    {
        $job = static fn (string $deed): array => ['payload' => ['do' => $deed], 'id' => $deed];
        $this->queue()->pushMany(array_map($job, $deeds));
    }

    /** @return list<int> of these jobs */
    private function attempts(string ...$ids): array
    {
        return array_map(fn (string $id): int => $this->queue()->peek($id)->attempts, $ids);
    }

    /** @return list<array<string, mixed>> */
    private function lines(string $output): array
    {
        $read = static fn (string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR);

        return array_map($read, explode("\n", trim($output)));
    }
}
