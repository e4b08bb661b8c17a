<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\GroupLimits;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Wait;

/** delayqueue check: one line and the exit codes of Nagios. */
final class CliCheckTest extends CliTestCase
{
    public function testQueuesWithinTheirLimitsAreWell(): void
    {
        $this->assertSame([0, "OK: there are no queues\n"], $this->check('--max-age=1s'));
        $this->queueOf('orders')->push(1);
        [$code, $line] = $this->check('--max-age=1h', '--max-buried=0', '--max-lateness-p99=5s', '--min-workers=0');
        $this->assertSame(0, $code);
        $this->assertMatchesRegularExpression('/^OK: 1 queue, oldest ready job \S+( \w+)?, 0 buried, lateness p99 0 ms, 0 workers\n$/D', $line);
        $this->queueOf('mails')->pushMany([['payload' => 1, 'id' => 'a'], ['payload' => 2, 'delay' => 60]]);
        $this->queueOf('mails')->reserveJob('a')?->bury();
        $this->assertSame([0, "OK: 2 queues, 1 buried (mails)\n"], $this->check('--max-buried=1'));
    }

    public function testALimitThatIsPassedIsCriticalAndAWarningLimitIsAWarning(): void
    {
        $queue = $this->queueOf('orders');
        $queue->pushMany([['payload' => 1, 'id' => 'a'], ['payload' => 2, 'id' => 'b']]);
        $queue->reserveJob('a')?->bury();
        $queue->reserveJob('b')?->bury();
        $this->assertSame([0, "OK: 1 queue, 2 buried\n"], $this->check('--max-buried=2'));
        $this->assertSame([1, "WARNING: orders: 2 buried (limit 1)\n"], $this->check('--warn-max-buried=1'));
        $this->assertSame([1, "WARNING: orders: 2 buried (limit 1)\n"], $this->check('--warn-max-buried=1', '--max-buried=2'));
        $this->assertSame([2, "CRITICAL: orders: 2 buried (limit 0)\n"], $this->check('--warn-max-buried=1', '--max-buried=0'));
        $this->assertSame([2, "CRITICAL: orders: 0 workers (at least 1)\n"], $this->check('--min-workers=1'));
        [$code, $line] = $this->check('--warn-max-buried=0', '--min-workers=1');
        $this->assertSame([2, "CRITICAL: orders: 0 workers (at least 1); orders: 2 buried (limit 0)\n"], [$code, $line], 'the worst first');
    }

    public function testTheOldestReadyJobAndTheLatenessAreJudged(): void
    {
        $queue = $this->queueOf('orders');
        $queue->push(1);
        Wait::until(static fn (): bool => $queue->stats()->oldestReadyAge > 0.3, 10, 'the job is old');
        $this->assertSame(2, $this->check('--max-age=200ms')[0]);
        $this->assertSame(0, $this->check('--max-age=1h')[0]);
        $queue->reserve()?->ack();
        $this->assertSame(0, $this->check('--max-age=0')[0], 'nothing is ready any more');
        $this->assertMatchesRegularExpression('/^CRITICAL: orders: lateness p99 [\d.]+ m?s \(limit 100 ms\)$/', $this->check('--max-lateness-p99=100ms')[1]);
        $this->assertSame(0, $this->check('--max-lateness-p99=1h')[0]);
    }

    public function testWorkersCountOnceTheyAreInTheList(): void
    {
        $this->queueOf('orders')->push('quick');
        $this->assertSame(2, $this->check('--min-workers=1')[0]);
        $this->start('work', self::HANDLER, '--queue=orders');
        Wait::until(fn (): bool => $this->check('--min-workers=1') === [0, "OK: 1 queue, 1 worker\n"], 15, 'the worker is in the list');
        $this->assertSame(2, $this->check('--min-workers=2')[0]);
        $this->redis->ask('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '&*', '+@all', '-getrange', '-pttl');
        $blind = $this->check('--min-workers=1', '--dsn=' . str_replace('://', '://blind:secret@', $this->redis->dsn()));
        $this->assertSame([3, "UNKNOWN: orders: the list of workers cannot be read\n"], $blind);
    }

    public function testJobsThatAreSlowOnPurposeAreNotJudged(): void
    {
        $paused = $this->queueOf('paused');
        $paused->push(1);
        $paused->pause();
        $limited = $this->queueOf('limited');
        $limited->limitGroups('g', new GroupLimits(concurrency: 1));
        $limited->pushMany([['payload' => 1, 'group' => 'g'], ['payload' => 2, 'group' => 'g']]);
        Wait::until(static fn (): bool => $limited->stats()->oldestReadyAge > 0.1, 10, 'the jobs are old');
        $this->assertSame('limited', $limited->reserve()?->queue);
        $this->assertSame(1, $limited->stats()->blocked);
        $this->assertSame([0, "OK: 2 queues, oldest ready job 0 ms (limited); paused: paused\n"], $this->check('--max-age=50ms'));
        $this->assertSame([0, "OK: 2 queues; paused: paused\n"], $this->check('--max-lateness-p99=1ms'));
        $limited->limitGroups('g', null);
        $this->assertSame(2, $this->check('--max-lateness-p99=1ms')[0], 'no job is blocked any more');
    }

    public function testQueuesAreChosenByNamesAndPatternsAndLeftOut(): void
    {
        foreach (['mail-eu', 'mail-us', 'failed', 'orders.failed'] as $name) {
            $this->queueOf($name)->push(1);
        }
        (new DelayQueue('spread', $this->redis->dsn(), ['partitions' => 3]))->pushMany(array_fill(0, 30, ['payload' => 1]));
        $line = fn (string ...$arguments): string => $this->check('--min-workers=1', ...$arguments)[1];
        $this->assertSame("CRITICAL: mail-eu: 0 workers (at least 1); mail-us: 0 workers (at least 1)\n", $line('mail-*'));
        $this->assertSame("CRITICAL: spread: 0 workers (at least 1)\n", $line('--queue=spread'));
        $this->assertSame("CRITICAL: mail-eu: 0 workers (at least 1); mail-us: 0 workers (at least 1)\n", $line('--except=*failed', '--except=spread'));
        $this->assertSame("OK: there are no queues\n", $line('nothing-*'));
        foreach (range(1, 7) as $n) {
            $this->queueOf("q$n")->push(1);
        }
        $this->assertStringEndsWith("; q5: 0 workers (at least 1); and 2 more\n", $line('q*'));
    }

    public function testJsonHasEachNumberAndItsLimit(): void
    {
        $this->queueOf('orders')->push(1, id: 'a');
        $this->queueOf('orders')->reserveJob('a')?->bury();
        $result = $this->cli('check', '--warn-max-buried=0', '--max-lateness-p99=5s', '--format=json');
        $this->assertSame(1, $result->exitCode);
        $report = json_decode($result->output, true, flags: JSON_THROW_ON_ERROR);
        $this->assertSame(['warning', 'WARNING: orders: 1 buried (limit 0)', 1], [$report['level'], $report['message'], $report['queues']]);
        $this->assertSame(['queue' => 'orders', 'check' => 'max-buried', 'level' => 'warning', 'value' => 1, 'limit' => 0], $report['findings'][0]);
        $lateness = $report['findings'][1];
        $this->assertSame(['max-lateness-p99', 'ok', null], [$lateness['check'], $lateness['level'], $lateness['limit']]);
    }

    public function testWrongUsageAndARefusalAreUnknownAndARedisThatIsAwayIsCritical(): void
    {
        $this->queueOf('orders')->push(1);
        $mistakes = [
            [], ['--max-age=soon'], ['--max-buried=-1'], ['--max-buried=0', '--nonsense'], ['--max-buried=0', 'mistyped'], ['--max-buried=0', '--format=jsn'],
            ['--max-buried=0', '--dsn=nonsense'],
        ];
        foreach ($mistakes as $mistake) {
            $result = $this->cli('check', ...$mistake);
            $this->assertSame(3, $result->exitCode, implode(' ', $mistake));
            $this->assertStringStartsWith('delayqueue: ', $result->errors);
        }
        $this->redis->ask('ACL', 'SETUSER', 'nobody', 'on', '>secret', '~*', '&*', '+@all', '-zrange');
        $refused = $this->check('--max-buried=0', '--dsn=' . str_replace('://', '://nobody:secret@', $this->redis->dsn()));
        $this->assertSame(3, $refused[0], $refused[1]);
        $this->assertStringStartsWith('UNKNOWN: Redis refuses: ', $refused[1]);
        $wrong = $this->check('--max-buried=0', '--dsn=' . str_replace('://', '://nobody:wrong@', $this->redis->dsn()));
        $this->assertSame(3, $wrong[0], $wrong[1]);
        $this->redis->kill();
        foreach ([[], ['orders']] as $names) {
            $away = $this->check('--max-buried=0', ...$names);
            $this->assertSame(2, $away[0]);
            $this->assertMatchesRegularExpression('/^CRITICAL: Redis cannot be reached: [^\n]+\n$/D', $away[1]);
        }
    }

    public function testItsHelpSaysThatTheExitCodesAreOthers(): void
    {
        $codes = 'Exit codes: those of Nagios, which differ from those of the other commands';
        $this->assertStringContainsString($codes, $this->cliExpecting(0, 'check', '--help'));
    }

    /** @return array{int, string} exit code, and what it prints */
    private function check(string ...$arguments): array
    {
        $result = $this->cli('check', ...$arguments);
        $this->assertSame($result->exitCode < 3 ? '' : $result->errors, $result->errors);

        return [$result->exitCode, $result->output];
    }

    private function queueOf(string $name): DelayQueue
    {
        return new DelayQueue($name, $this->redis->dsn());
    }
}
