<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Schedule\Cron;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Runner;
use DelayQueue\Schedule\Schedules;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** delayqueue schedules and its commands, and delayqueue work --schedules. */
final class CliSchedulesTest extends CliTestCase
{
    use EndsPools;

    private const SAMPLE = [
        'invoices' => ['cron' => '0 9 * * MON-FRI', 'zone' => 'Europe/Berlin', 'queue' => 'invoices', 'payload' => ['to' => []], 'overlap' => 'skip', 'catchUp' => 'all',
            'jitter' => '5m', 'until' => '2099-12-31T00:00:00Z', 'maxAttempts' => 3, 'backoff' => '15s 3m', 'headers' => ['tenant' => 'acme']],
        'poll' => ['every' => '90s', 'queue' => 'polls', 'onExpiry' => 'drop', 'expires' => '1m'],
    ];

    public function testAFileOfJson(): void
    {
        $file = $this->file('schedules.json', str_replace('"to":[]', '"to":{}', (string) json_encode(self::SAMPLE)));
        $this->assertSame("set invoices\nset poll\n2 set, 0 unchanged, 0 removed\n", $this->cliExpecting(0, 'schedules:set', $file));
        $this->assertSame(['set' => [], 'unchanged' => ['invoices', 'poll'], 'removed' => [], 'ended' => []], $this->json('schedules:set', $file, '--format=json'));

        $schedule = $this->json('schedules:show', 'invoices', '--format=json');
        $facts = array_intersect_key($schedule, array_flip(['name', 'cron', 'zone', 'queue', 'overlap', 'catchUp', 'jitter']));
        $this->assertSame(['invoices', '0 9 * * MON-FRI', 'Europe/Berlin', 'invoices', 'skip', 'all', 300.0], array_values($facts));
        $this->assertSame(['maxAttempts' => 3, 'backoff' => 'stages 15s 3m', 'headers' => ['tenant' => 'acme']], $schedule['options']);
        $this->assertCount(5, $schedule['next']);
        $shown = $this->cliExpecting(0, 'schedules:show', 'invoices');
        $this->assertMatchesRegularExpression('/^payload +\{"to":\{\}\}$/m', $shown);
        $this->assertMatchesRegularExpression('/^when +0 9 \* \* MON-FRI Europe\/Berlin$/m', $shown);
    }

    public function testAFileOfPhp(): void
    {
        $file = $this->file('schedules.php', <<<'PHP'
            <?php
            use DelayQueue\Schedule\{Every, Overlap};
            return [
                'poll' => ['when' => Every::interval('90s'), 'queue' => 'polls', 'overlap' => Overlap::Replace],
                'daily' => ['cron' => '0 0 * * *', 'queue' => 'polls'],
            ];
            PHP);
        $this->assertStringEndsWith("2 set, 0 unchanged, 0 removed\n", $this->cliExpecting(0, 'schedules:set', $file, '--queue=mine'));
        $this->assertSame('replace', $this->json('schedules:show', 'poll', '--queue=mine', '--format=json')['overlap']);
        $this->assertSame([], $this->json('schedules', '--format=json'), 'another queue');
    }

    public function testPruneRemovesTheOthers(): void
    {
        $this->schedules()->set('old', Every::interval(5), queue: 'x');
        $this->schedules()->set('123', Every::interval(5), queue: 'x');
        $file = $this->file('schedules.json', '{"123": {"every": 5, "queue": "x"}}');
        $this->assertSame("0 set, 1 unchanged, 0 removed\n", $this->cliExpecting(0, 'schedules:set', $file));
        $this->assertSame("removed old\n0 set, 1 unchanged, 1 removed\n", $this->cliExpecting(0, 'schedules:set', $file, '--prune'));
        $this->assertSame(1, $this->target('schedules')->count());
    }

    /** @dataProvider mistakes */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    public function testAMistakeInAFileStoresNothing(string $definition, string $message): void
    {
        $file = $this->file('schedules.json', '{"good": {"every": 5, "queue": "x"}, "bad": ' . $definition . '}');
        $this->assertStringStartsWith("delayqueue: schedule bad in $file: $message", $this->cliExpecting(2, 'schedules:set', $file));
        $this->assertSame(0, $this->target('schedules')->count());
    }

    /** @return array<string, array{string, string}> */
    public static function mistakes(): array
    {
        return [
            'no moments' => ['{"queue": "x"}', 'it has neither cron nor every'],
            'never' => ['{"cron": "0 0 31 2 *", "queue": "x"}', 'cron must have a moment'],
            'an interval' => ['{"every": "0.5s", "queue": "x"}', 'every must be at least 1 second'],
            'an unknown key' => ['{"every": 5, "queue": "x", "jiter": 1}', 'there is no key jiter'],
            'an overlap' => ['{"every": 5, "queue": "x", "overlap": "maybe"}', 'overlap must be one of allow, skip, replace'],
            'two of them' => ['{"every": 5, "cron": "0 9 * * *", "queue": "x"}', 'it needs one of cron and every, not both'],
            'a zone of an interval' => ['{"every": 5, "zone": "Nowhere", "queue": "x"}', 'zone goes with cron'],
            'a step that is too long' => [
                '{"cron": "*/70 * * * *", "queue": "x"}',
                'cron must be a line of cron, "*/70 * * * *" is none: the step in */70 must be 1 to 60',
            ],
            'an abbreviation' => [
                '{"cron": "0 9 * * *", "zone": "BST", "queue": "x"}',
                'zone must be a time zone such as "Europe/Berlin"',
            ],
            'a line that is none' => ['{"cron": ["0 9 * * *"], "queue": "x"}', 'cron must be of type string, array given'],
            'an end that is a number' => ['{"every": 5, "queue": "x", "until": 2000000000}', 'until must be a moment in quotes'],
            'a backoff' => ['{"every": 5, "queue": "x", "backoff": "nonsense"}', 'backoff has the delay "nonsense", which must be '],
            'an end that is none' => ['{"every": 5, "queue": "x", "until": "whenever"}', 'until is no moment: whenever'],
            'a type' => ['{"every": 5, "queue": "x", "priority": "high"}', "priority must be a whole number\n"],
        ];
    }

    public function testNumbersOfAPayloadStayAsTheyAreWritten(): void
    {
        $payload = '{"id":12345678901234567890,"none":{},"price":1.10,"far":-1e400}';
        $file = $this->file(
            'schedules.json',
            '{"a": {"every": 60, "queue": "x", "payload": ' . $payload . ', "priority": 7}}',
        );
        $this->assertSame("set a\n1 set, 0 unchanged, 0 removed\n", $this->cliExpecting(0, 'schedules:set', $file));
        $this->assertSame("0 set, 1 unchanged, 0 removed\n", $this->cliExpecting(0, 'schedules:set', $file));
        $this->cliExpecting(0, 'schedules:pause', 'a');
        $this->cliExpecting(0, 'schedules:resume', 'a');
        $this->assertStringContainsString($payload, $this->cliExpecting(0, 'schedules:show', 'a'));
        $this->assertStringContainsString(
            "\"payload\":$payload",
            $this->cliExpecting(0, 'schedules:show', 'a', '--format=json'),
        );
        $id = trim($this->cliExpecting(0, 'schedules:run', 'a'));
        $job = $this->target('x')->peek($id);
        $this->assertSame($payload, $job?->body);
        $this->assertSame(7, $job?->priority);
    }

    public function testAnEndedScheduleHoldsNothingUp(): void
    {
        $this->schedules()->set('campaign', Every::interval(5), queue: 'x');
        $file = $this->file('schedules.json', '{"campaign": {"every": 5, "queue": "x", "until": "2020-01-01"}, "poll": {"every": 5, "queue": "x"}}');
        $this->assertSame("set poll\nended campaign\n1 set, 0 unchanged, 0 removed, 1 ended\n", $this->cliExpecting(0, 'schedules:set', $file, '--prune'));
        $this->assertSame(['poll'], array_keys(iterator_to_array($this->schedules()->all())));
    }

    public function testAnEndedScheduleStaysUntilItsLastJobIsPushed(): void
    {
        $end = 60 * intdiv(time(), 60) - 120;
        $definition = ['cron' => '* * * * *', 'queue' => 'x', 'catchUp' => 3600.0, 'until' => (float) $end];
        $this->target('schedules')->push($definition, new DateTimeImmutable("@$end"), 'a');
        $until = gmdate('Y-m-d H:i:s', $end);
        $file = $this->file(
            'schedules.json',
            '{"a": {"cron": "* * * * *", "queue": "x", "payload": "new", "until": "' . $until . '"}}',
        );
        $this->assertStringStartsWith("ended a\n", $this->cliExpecting(0, 'schedules:set', $file));
        $queue = $this->target('schedules');
        $queue->drain(new Runner($queue));
        $this->assertSame(1, $this->target('x')->count());
        $this->assertSame(0, $queue->count());
    }

    public function testAnEndIsInTheZoneOfItsLine(): void
    {
        $file = $this->file('schedules.json', '{"a": {"cron": "0 9 * * *", "zone": "Asia/Tokyo", "queue": "x", "until": "2099-01-01 09:00"}}');
        $this->cliExpecting(0, 'schedules:set', $file);
        $this->assertSame('2099-01-01T00:00:00+00:00', $this->schedules()->get('a')?->until?->format(DATE_ATOM));
    }

    public function testABuriedScheduleIsShownAndComesBack(): void
    {
        $this->schedules()->set('a', Every::interval(3600), queue: 'x');
        $this->target('schedules')->kickJob('a');
        $this->target('schedules')->reserveJob('a')?->bury('it has another format');
        $this->assertMatchesRegularExpression('/^a .*buried .*another format/m', $this->cliExpecting(0, 'schedules'));
        $this->assertTrue($this->json('schedules:show', 'a', '--format=json')['buried']);
        $this->cliExpecting(0, 'schedules:resume', 'a');
        $this->assertSame(State::Delayed, $this->target('schedules')->peek('a')?->state);
    }

    public function testAMissingOrDamagedFileIsRefused(): void
    {
        $this->assertStringContainsString('would remove all', $this->cliExpecting(2, 'schedules:set', $this->file('e.json', '{}'), '--prune'));
        $this->assertStringContainsString('has no definitions by their names', $this->cliExpecting(2, 'schedules:set', $this->file('l.json', '[{"every": 5, "queue": "x"}]')));
        $this->assertStringContainsString('there is no file nowhere.json', $this->cliExpecting(2, 'schedules:set', 'nowhere.json'));
        $this->assertStringContainsString('is not JSON', $this->cliExpecting(2, 'schedules:set', $this->file('a.json', '{')));
        $this->assertStringContainsString('cannot load', $this->cliExpecting(2, 'schedules:set', $this->file('a.php', '<?php nonsense(')));
        $this->assertStringContainsString('has no definitions by their names', $this->cliExpecting(2, 'schedules:set', $this->file('b.php', '<?php')));
    }

    public function testTheListAndItsLimit(): void
    {
        foreach (['c' => 90, 'a' => 30, 'b' => 60] as $name => $seconds) {
            $this->schedules()->set($name, Every::interval($seconds), queue: 'x');
        }
        $list = $this->cliExpecting(0, 'schedules', '--limit=2');
        $this->assertMatchesRegularExpression('/^a .*every 30 s.*\n.*^b .*\n2 of 3: --limit lists more\n\z/ms', $list);
        $this->assertSame(['a', 'b', 'c'], array_column($this->json('schedules', '--format=json'), 'name'));
        $this->assertStringContainsString('there is no queue nosuch', $this->cliExpecting(2, 'schedules', '--queue=nosuch'));
    }

    public function testPauseResumeRunAndRemove(): void
    {
        $this->schedules()->set('a', Cron::parse('0 0 1 1 *'), queue: 'x');
        $this->cliExpecting(0, 'schedules:pause', 'a', '--for=1h');
        $this->assertStringContainsString('paused, next ', $this->cliExpecting(0, 'schedules'));
        $this->cliExpecting(0, 'schedules:resume', 'a');
        $this->assertSame("delayqueue: there is no schedule a in queue schedules, or it is not paused\n", $this->cliExpecting(1, 'schedules:resume', 'a'));
        $id = trim($this->cliExpecting(0, 'schedules:run', 'a'));
        $this->assertStringStartsWith('a@', $id);
        $this->assertSame(State::Ready, $this->target('x')->peek($id)?->state);
        $this->assertSame("delayqueue: there is no schedule b, c in queue schedules\n", $this->cliExpecting(1, 'schedules:remove', 'b', 'a', 'c'));
        $this->assertSame(0, $this->target('schedules')->count());
        $this->assertSame("delayqueue: --for must be a duration: seconds, 500ms, 15m, 2h30m or PT15M\n", $this->cliExpecting(2, 'schedules:pause', 'a', '--for=soon'));
        $this->assertStringContainsString('there is no schedule a', $this->cliExpecting(1, 'schedules:show', 'a'));
    }

    public function testThePoolReplacesReloadsAndStopsTheRunner(): void
    {
        $this->schedules()->set('a', Every::interval(1), queue: $this->queueName);
        $parent = $this->start('work', self::HANDLER, '--schedules');
        $runner = $this->runner($parent);
        $this->ready($parent, 2);
        $this->awaitMore('the runner works');
        posix_kill($runner, SIGKILL);
        $killedAt = microtime(true);
        $this->heard($parent, "/schedules \\(process $runner\\) was killed by signal 9; another starts in 250 ms.*schedules \\(process \\d+\\) is ready/s");
        $parent->signal(SIGHUP);
        $this->heard($parent, '/the new schedules is ready: the old one ends/');
        $this->schedules()->set('b', Every::interval(1), queue: $this->queueName);
        $this->awaitMore('the new runner works');
        $this->endWell($parent);
        foreach ($this->target('schedules')->list(State::Reserved) as $held) {
            $this->assertLessThan($killedAt, $held->leaseUntil - $held->ttr, 'only the runner that was killed has given nothing back');
        }
        $this->assertSame($this->done(), array_unique($this->done()));
    }

    public function testTheRunnerServesTheQueueThatIsNamed(): void
    {
        $schedules = new Schedules($this->target('mine'));
        $schedules->set('a', Every::interval(1), queue: $this->queueName);
        $this->target('mine')->push('no schedule', id: 'stranger');
        $parent = $this->start('work', self::HANDLER, '--schedules', '--schedules-queue=mine', '--processes=2');
        $this->awaitMore('the runner works');
        $this->heard($parent, '/job stranger is buried: the job is no schedule: it names no queue/');
        // The signal that ends the workers does not end the runner before them.
        $parent->signal(SIGINT);
        $this->assertSame(0, $parent->exitCode(20), $parent->errors());
        $this->assertStringNotContainsString('another starts', $parent->errors());
    }

    public function testAJobThatCannotBePushedIsLogged(): void
    {
        $this->schedules()->set('a', Every::interval(1), queue: 'x', job: ['payload' => str_repeat('x', 100)]);
        $this->redis->ask('CONFIG', 'SET', 'maxmemory', '1');
        $parent = $this->start('work', self::HANDLER, '--schedules');
        $this->heard($parent, '/schedule a cannot push its job, and tries again: /');
        $this->redis->ask('CONFIG', 'SET', 'maxmemory', '0');
        Wait::until(fn (): bool => $this->target('x')->count() > 0, 20, 'it tries again');
        $this->endWell($parent);
    }

    public function testARunnerWithoutTheLibraryBuriesNothing(): void
    {
        $this->schedules()->set('a', Cron::parse('0 0 1 1 *'), queue: 'x');
        $this->target('schedules')->kickJob('a');
        $program = __DIR__ . '/../phpunit/programs/schedules.php';
        $runner = new Process([...Php::command(['include_path' => '/nowhere']), $program, $this->redis->dsn(), 'run']);
        $error = Wait::until(fn (): ?string => $this->target('schedules')->peek('a')?->lastError, 20, 'it cannot read the line');
        $runner->kill();
        $this->assertStringContainsString('needs dragonmantank/cron-expression: composer require', $error);
        $this->assertNotSame(State::Buried, $this->target('schedules')->peek('a')?->state);
        $this->assertSame(0, $this->target('x')->count());
    }

    private function awaitMore(string $what): void
    {
        $before = count($this->done());
        Wait::until(fn (): bool => count($this->done()) > $before, 20, $what);
    }

    private function runner(Process $parent): int
    {
        return (int) $this->heard($parent, '/schedules \(process (\d+)\) is ready/')[0][1];
    }

    private function schedules(): Schedules
    {
        return new Schedules($this->target('schedules'));
    }

    private function target(string $name): DelayQueue
    {
        return $this->queue()->sibling($name);
    }
}
