<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work --processes=2..5: workers that follow the load. */
final class CliScaleTest extends CliTestCase
{
    use EndsPools;

    private ?Process $pool = null;

    protected function tearDown(): void
    {
        $this->pool?->kill();
        parent::tearDown();
    }

    public function testWorkersAreAddedUpToTheMostWhileJobsWait(): void
    {
        $parent = $this->start('work', self::HANDLER, '--processes=2..5', '--scale-target=300ms');
        $this->workers($parent, 2);
        $this->pushJobsThatWait(7);
        $this->workers($parent, 5);
        Wait::until(fn (): bool => count($this->holders()) === 5, 20, 'all of them work');
        $this->heard($parent, "/worker 3 is added: jobs of $this->queueName wait \\d/");
        $this->assertMatchesRegularExpression('/gauge \(process \d+\) is ready/', $parent->errors());
        $this->assertSame([], $this->redis->clients($parent->pid), 'the parent has no connection');

        // A new release replaces all five, and the gauge after them.
        $this->letAllGo(7);
        Wait::until(fn (): bool => count($this->done()) === 7, 20, 'all is done');
        $parent->signal(SIGHUP);
        $this->heard($parent, '/all of the new workers are ready.*the new gauge is ready/s');
        $this->heard($parent, '/(gauge|worker \d) \(process \d+\) (ended with exit code 0.*){6}/s');
        $this->endWell($parent);
        $this->assertStringNotContainsString('worker 6', $parent->errors());
        $this->assertSame(12, preg_match_all('/(gauge|worker \d) \(process \d+\) ended with exit code 0$/m', $parent->errors()), $parent->errors());
    }

    public function testAfterACalmTheNewestEndsAndFinishesItsJobDownToTheLeast(): void
    {
        $parent = $this->scaledPool();
        $this->pushJobsThatWait(5);
        $workers = $this->workers($parent, 5);
        Wait::until(fn (): bool => count($this->holders()) === 5, 20, 'each has a job');
        $last = $this->holders()[$workers[5]];
        array_map($this->letGo(...), array_diff($this->holders(), [$last]));
        $this->heard($parent, '/worker 5 is to end: no job has waited longer than 300 ms for 1 s.*worker 4 is to end.*worker 3 is to end/s');
        $this->assertSame(State::Reserved, $this->queue()->peek($last)->state);
        $this->letGo($last);
        $this->heard($parent, "/worker 5 \\(process $workers[5]\\) ended with exit code 0\$/m");
        $this->assertNull($this->queue()->peek($last));
        $this->heard($parent, '/(worker [345] \(process \d+\) ended with exit code 0.*){3}/s');

        // The two that are left work, and more are added for the next load.
        $before = count($this->done());
        $this->pushJobsThatWait(4, 'again');
        $this->heard($parent, '/worker 3 is to end.*worker 3 is added/s');
        $this->letAllGo(4, 'again');
        Wait::until(fn (): bool => count($this->done()) === $before + 4, 20, 'all is done');
        $this->endWell($parent);
        $this->assertDoesNotMatchRegularExpression('/worker [12] is to end|was killed/', $parent->errors());
    }

    public function testWorkersThatAreHeldAreNotAddedTo(): void
    {
        $parent = $this->scaledPool();
        $this->workers($parent, 2);
        $parent->signal(SIGUSR2);
        Wait::until(fn (): bool => $this->redis->waiters($this->queueName) === 0, 20, 'nobody waits for jobs');
        $this->queue()->push([], id: 'a');
        $before = $this->redis->calls('evalsha');
        Wait::until(fn (): bool => $this->redis->calls('evalsha') > $before + 2, 20, 'the gauge has asked twice');
        $this->assertStringNotContainsString('is added', $parent->errors());
        $parent->signal(SIGCONT);
        Wait::until(fn (): bool => $this->done() === ['a'], 20, 'they go on');
        $this->endWell($parent);
    }

    public function testAPoolThatEndsWhenNothingIsDueDoesSoWithARange(): void
    {
        $this->queue()->push([], id: 'a');
        $result = $this->cli('work', self::HANDLER, '--processes=1..3', '--stop-when-empty');
        $this->assertSame([0, ['a']], [$result->exitCode, $this->done()], $result->errors);
        $this->assertMatchesRegularExpression('/gauge \(process \d+\) ended with exit code 0$/m', $result->errors);
    }

    public function testAWrongNumberOrRangeOfProcessesIsRefused(): void
    {
        foreach (['0', '1001', '1000000', 'many', '10..2', '0..3', '2..2000', 'a..b', '2..', '..3', '2..2', '2...3', '-1..3'] as $range) {
            $errors = $this->cliExpecting(2, 'work', self::HANDLER, "--processes=$range");
            $this->assertSame("delayqueue: --processes must be a whole number from 1 to 1000, or a range of them such as 2..10\n", $errors);
        }
        $this->assertSame(
            "delayqueue: --scale-target needs a range of processes, such as --processes=2..10\n",
            $this->cliExpecting(2, 'work', self::HANDLER, '--processes=2', '--scale-target=1s'),
        );
        foreach (['0' => 'greater than 0', '-1' => 'a duration', 'soon' => 'a duration'] as $target => $must) {
            $this->assertStringContainsString("--scale-target must be $must", $this->cliExpecting(2, 'work', self::HANDLER, '--processes=2..3', "--scale-target=$target"));
        }
    }

    private function scaledPool(): Process
    {
        return $this->pool = new Process(
            [PHP_BINARY, __DIR__ . '/../phpunit/programs/scaled_pool.php', self::HANDLER],
            $this->environment(),
        );
    }

    /** @return array<int, int> processes by the numbers of the workers, once so many are ready */
    private function workers(Process $parent, int $number): array
    {
        return Wait::until(static function () use ($parent, $number): ?array {
            preg_match_all('/worker (\d+) \(process (\d+)\) is ready/', $parent->errors(), $found);

            return count($found[1]) >= $number ? array_combine(array_map(intval(...), $found[1]), array_map(intval(...), $found[2])) : null;
        }, 20, "$number workers are ready");
    }

    private function pushJobsThatWait(int $jobs, string $name = 'job'): void
    {
        $this->queue()->pushMany(array_map(static fn (int $n): array => ['payload' => ['do' => 'wait'], 'id' => "$name-$n"], range(1, $jobs)));
    }

    private function letAllGo(int $jobs, string $name = 'job'): void
    {
        array_map(fn (int $n) => $this->letGo("$name-$n"), range(1, $jobs));
    }

    /** @return array<int, string> the job that each process has begun with last */
    private function holders(): array
    {
        $begun = array_filter($this->handled(), static fn (array $deed): bool => $deed[0] === 'begin');

        return array_column($begun, 1, 2);
    }
}
