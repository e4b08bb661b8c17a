<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\Console\Text;
use DelayQueue\GroupLimits;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\FreePort;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** The commands by which operators watch: stats, metrics, doctor; and install-scripts. */
final class CliOperationsTest extends CliTestCase
{
    public function testStatsAreForPeopleProgramsAndPrometheus(): void
    {
        $this->assertSame([], $this->json('stats', '--format=json'), 'no queue yet');
        foreach (['one', 'two'] as $name) {
            (new DelayQueue($name, $this->redis->dsn()))->pushMany([['payload' => 1], ['payload' => 2, 'delay' => 60]]);
        }
        (new DelayQueue('hidden', $this->redis->dsn(), ['prefix' => 'other']))->push(1);
        $stats = $this->json('stats', '--format=json');
        $this->assertSame(['one', 'two'], array_column($stats, 'queue'));
        $this->assertSame([1, 1, 2], [$stats[0]['ready'], $stats[0]['delayed'], $stats[0]['pushed']]);
        $this->assertSame(['two'], array_column($this->json('stats', 'two', '--format=json'), 'queue'));
        $this->assertSame(['two'], array_column($this->json('stats', '--queue=two', '--format=json'), 'queue'));
        $this->assertSame(['hidden'], array_column($this->json('stats', '--prefix=other', '--format=json'), 'queue'));
        $next = '(1m|60 s|5\d(\.\d)? s)';
        $table = "/^queue +delayed +ready +blocked.*^one +1 +1 +0 +0 +0 +0 +0 +[\d.]+ m?s +$next +- +- *$/ms";
        $this->assertMatchesRegularExpression($table, $this->cliExpecting(0, 'stats'));

        $prometheus = $this->cliExpecting(0, 'stats', '--format=prometheus');
        preg_match_all('/^# TYPE (\S+)/m', $prometheus, $types);
        $this->assertSame(array_unique($types[1]), $types[1], 'each metric is declared once');
        $this->assertStringContainsString("delayqueue_workers{queue=\"one\",state=\"idle\"} 0\n", $prometheus);
        $this->assertStringContainsString(
            "delayqueue_jobs{queue=\"one\",state=\"buried\"} 0\ndelayqueue_jobs{queue=\"two\",state=\"delayed\"} 1\n", $prometheus, 'a metric is one group',
        );

        $watching = $this->start('stats', 'one', '--watch=0.05', '--format=json');
        $this->assertSame(1, json_decode($watching->line(), true)[0]['ready']);
        (new DelayQueue('one', $this->redis->dsn()))->push(3);
        Wait::until(static fn () => json_decode($watching->line(), true)[0]['ready'] === 2, 10, 'it goes on looking');
    }

    public function testStatsFitIntoAHundredColumnsAndExplainThemselves(): void
    {
        $queue = new DelayQueue('twenty-characters-ab', $this->redis->dsn());
        $queue->pushMany([...array_fill(0, 3, ['payload' => 1]), ['payload' => 1, 'delay' => '23h59m']]);
        $queue->reserve()?->ack();
        $queue->reserve()?->fail('no');
        (new DelayQueue('other', $this->redis->dsn()))->pause('10m');
        (new DelayQueue('other', $this->redis->dsn()))->push(1);
        $said = $this->cliExpecting(0, 'stats');
        foreach (explode("\n", $said) as $line) {
            $this->assertLessThanOrEqual(100, strlen($line), $line);
        }
        $this->assertMatchesRegularExpression('/^twenty-characters-ab( +\d+){7} +[\d.]+ m?s +[\dsmh .]+ +[\d.]+ m?s +[\d.]+ m?s *$/m', $said);
        $this->assertStringContainsString('late, run: 99 of 100 jobs of the last hour were served no later', $said);
        $this->assertStringEndsWith("\npaused: other\n", $said);
        $counts = ['99999' => 99_999, '100k' => 100_000, '123k' => 123_456, '1.2M' => 1_234_567, '12M' => 12_345_678, '999M' => 999_400_000, '1.0G' => 1_000_000_000];
        $this->assertSame(array_map(strval(...), array_keys($counts)), array_map(Text::number(...), array_values($counts)));

        $json = $this->json('stats', 'twenty-characters-ab', '--format=json')[0];
        $this->assertSame([1, 2, 1], [$json['runMs']['acked']['count'], $json['latenessMs']['count'], $json['sinceStart']['runMs']['failed']['count']]);
        $this->assertArrayHasKey('timedOut', $json['runMs']);
        $this->assertSame([], preg_grep('/_/', array_keys($json)));
    }

    public function testStatsAndMetricsTakePatternsAndALimit(): void
    {
        foreach (['mail-eu', 'mail-us', 'orders'] as $name) {
            (new DelayQueue($name, $this->redis->dsn()))->push(1);
        }
        $names = fn (string ...$arguments): array => array_column($this->json('stats', '--format=json', ...$arguments), 'queue');
        $this->assertSame(['mail-eu', 'mail-us'], $names('--queue=mail-*'));
        $this->assertSame(['orders', 'mail-us'], $names('orders', 'mail-u?'));
        $this->assertSame([], $names('nothing-*'));
        $this->assertSame(['mail-eu', 'mail-us'], $names('--limit=2'));
        $this->assertStringContainsString('queues left out: 1', $this->cli('stats', '--limit=2')->errors);
        $this->cliExpecting(2, 'stats', '--limit=0');

        $page = $this->cliExpecting(0, 'stats', '--format=prometheus', '--limit=1');
        $this->assertStringContainsString("\ndelayqueue_queues_left_out 2\n", $page);
        $this->assertStringNotContainsString('_bucket', $page, 'nothing was counted yet');
        $this->assertLessThan(8000, strlen($page), 'most of it names and describes the metrics');

        $port = FreePort::find();
        $this->start('metrics', "--listen=127.0.0.1:$port", '--queue=mail-*', '--limit=1')->line();
        Wait::until(static fn (): bool => @file_get_contents("http://127.0.0.1:$port/metrics") !== false, 10, 'the page');
        $page = (string) file_get_contents("http://127.0.0.1:$port/metrics");
        $this->assertStringContainsString('delayqueue_jobs{queue="mail-eu",state="ready"} 1', $page);
        $this->assertStringNotContainsString('mail-us', $page);
        $this->assertStringContainsString("\ndelayqueue_queues_left_out 1\n", $page);
    }

    public function testMetricsAreServedOnLoopback(): void
    {
        foreach (['one', 'two'] as $name) {
            (new DelayQueue($name, $this->redis->dsn()))->push(1);
        }
        (new DelayQueue('spread', $this->redis->dsn(), ['partitions' => 3]))->pushMany(array_fill(0, 30, ['payload' => 1]));
        $port = FreePort::find();
        $serving = $this->start('metrics', "--listen=127.0.0.1:$port");
        $url = "http://127.0.0.1:$port/metrics";
        $this->assertSame($url, $serving->line());
        Wait::until(static fn (): bool => @file_get_contents($url) !== false, 10, 'the page');
        $page = (string) file_get_contents($url);
        $this->assertContains('Content-Type: text/plain; version=0.0.4; charset=utf-8', self::headersOf($url));
        $this->assertSame(1, substr_count($page, '# TYPE delayqueue_jobs gauge'));
        $this->assertStringContainsString('delayqueue_jobs{queue="two",state="ready"} 1', $page);
        $this->assertStringContainsString('delayqueue_workers{queue="two",state="idle"} 0', $page);
        $this->assertStringContainsString('delayqueue_jobs{queue="spread",state="ready"} 30', $page, 'all of its partitions');
        $this->assertStringContainsString('/metrics', (string) file_get_contents("http://127.0.0.1:$port/"), 'the root is a hint');
        $this->assertSame('HTTP/1.1 404 Not Found', self::headersOf("http://127.0.0.1:$port/metric")[0]);
        foreach (['/', '/metrics', '/healthz', '/readyz', '/metric'] as $page) {
            $headers = self::headersOf("http://127.0.0.1:$port$page");
            $this->assertSame([$page === '/metric' ? 'HTTP/1.1 404 Not Found' : 'HTTP/1.1 200 OK', []], [$headers[0], preg_grep('/^X-Powered-By/i', $headers)]);
        }
        $this->assertSame(1, $this->cli('metrics', "--listen=127.0.0.1:$port")->exitCode, 'the port is taken');
        foreach (['--listen=here', '--dsn=nonsense', '--queue=a b', '--queue=spread', '--queue=mistyped'] as $wrong) {
            $this->assertSame(2, $this->cli('metrics', $wrong)->exitCode, $wrong);
        }
        $this->redis->kill();
        foreach (['/metrics' => '503 Service Unavailable', '/readyz' => '503 Service Unavailable', '/healthz' => '200 OK'] as $page => $status) {
            $this->assertSame("HTTP/1.1 $status", self::headersOf("http://127.0.0.1:$port$page")[0], $page);
        }
        $serving->signal(SIGTERM);
        $this->assertSame(SIGTERM, $serving->endedBy());
        $this->assertStringNotContainsString('GET', $serving->errors(), 'requests are not logged');
        $this->assertStringContainsString('delayqueue: ', $serving->errors());
    }

    public function testDoctorFailsWhereRedisIsDangerous(): void
    {
        $this->assertContains('persistence', array_column($this->json('doctor', '--format=json'), 'check'));
        $this->queue()->push(1, id: 'a', delay: 60);
        $this->assertContains('persistence', array_column($this->json('doctor', '--repair', '--format=json'), 'check'));
        $this->assertSame(State::Delayed, $this->queue()->peek('a')?->state, 'nothing was to be repaired');
        $this->redis->ask('CONFIG', 'SET', 'maxmemory', '100mb');
        $this->redis->ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
        $result = $this->cli('doctor');
        $this->assertSame(1, $result->exitCode);
        $this->assertMatchesRegularExpression('/^error eviction: .*noeviction/m', $result->output);
    }

    public function testColoursAreForTerminalsWithoutNoColor(): void
    {
        $this->queue()->push(1);
        $onTerminal = function (string $command, array $environment): string {
            $line = PHP_BINARY . ' ' . realpath(self::BINARY) . " $command";
            $process = new Process(['script', '-qec', $line, '/dev/null'], $environment + ['TERM' => 'xterm-256color'] + $this->environment());

            return str_replace("\r", '', $this->finish($process)->output);
        };
        foreach (['doctor' => 'ok   ', 'check --max-buried=0' => 'OK'] as $command => $word) {
            $this->assertStringContainsString("\e[32m$word\e[39m", $onTerminal($command, []), $command);
            $plain = $onTerminal($command, ['NO_COLOR' => '1']);
            $this->assertStringNotContainsString("\e[", $plain, $command);
            $this->assertSame($word, substr($plain, 0, strlen($word)));
            $this->assertStringNotContainsString("\e[", $this->cliExpecting(0, ...explode(' ', $command)));
        }
        $this->assertStringNotContainsString("\e[", $onTerminal('stats', ['NO_COLOR' => '1']));
    }

    public function testCompletionKnowsCommandsAndOptions(): void
    {
        $this->assertStringContainsString('complete -F _sf_delayqueue delayqueue', $this->cliExpecting(0, 'completion', 'bash'));
        $complete = fn (string ...$words): array => explode("\n", trim($this->cliExpecting(
            0, '_complete', '-sbash', '-c' . (string) (count($words) - 1), ...array_map(static fn (string $word): string => "-i$word", $words),
        )));
        $this->assertContains('check', $complete('delayqueue', 'che'));
        $this->assertContains('--max-age', $complete('delayqueue', 'check', '--max'));
    }

    public function testScriptsAreInstalledForUsersThatMayNotSendAny(): void
    {
        $this->redis->ask('SCRIPT', 'FLUSH');
        $this->redis->ask('ACL', 'SETUSER', 'hardened', 'on', '>secret', '~dq:*', '&dq:*', '+@all', '-eval');
        $dsn = '--dsn=' . str_replace('://', '://hardened:secret@', $this->redis->dsn());
        $refused = $this->cli('push', '1', $dsn);
        $this->assertSame(4, $refused->exitCode, $refused->errors);
        $this->assertStringContainsString("run 'delayqueue install-scripts'", $refused->errors);

        $this->assertSame("Installed on 1 server.\n", $this->cliExpecting(0, 'install-scripts'));

        $this->cliExpecting(0, 'push', '1', $dsn);
        $this->assertStringContainsString('ok    scripts: all ', $this->cliExpecting(0, 'doctor'));
    }

    public function testDoctorOfAWorkersUserSaysWhatItMayNotKnow(): void
    {
        preg_match('/^ACL SETUSER dqworker (.+)$/m', (string) file_get_contents(__DIR__ . '/../../docs/acl.md'), $line);
        $this->redis->ask('ACL', 'SETUSER', 'dqworker', ...explode(' ', $line[1]));
        $this->queue()->push(1);
        $findings = $this->cliExpecting(0, 'doctor', '--dsn=' . str_replace('://', '://dqworker:SECRET@', $this->redis->dsn()));
        foreach (['version', 'eviction', 'memory', 'persistence', 'role', 'replication', 'disk', 'connections'] as $check) {
            $this->assertMatchesRegularExpression("/^warn  $check: unknown: .+ \\+info/m", $findings);
        }
        $this->assertMatchesRegularExpression('/^warn  settings: unknown: .+ \+config\|get/m', $findings);
        $this->assertStringContainsString("ok    jobs: every job of queue '$this->queueName' lies in one state", $findings);
    }

    public function testTheReaderOfTheDocumentsLooksAtEverythingAndChangesNothing(): void
    {
        preg_match('/^ACL SETUSER dqreader (.+)$/m', (string) file_get_contents(__DIR__ . '/../../docs/acl.md'), $line);
        $this->redis->ask('ACL', 'SETUSER', 'dqreader', ...explode(' ', $line[1]));
        $dsn = '--dsn=' . str_replace('://', '://dqreader:SECRET@', $this->redis->dsn());
        $queue = $this->queue();
        $queue->pushMany([['payload' => 1, 'id' => 'a', 'group' => 'g'], ['payload' => 2, 'delay' => 60], ['payload' => 3, 'id' => 'b']]);
        $queue->limitGroups('g', new GroupLimits(concurrency: 2));
        $queue->reserveJob('b')->bury();
        $before = preg_replace('/"dump":"\w+"/', '', $this->cliExpecting(0, 'dump', '--limits'));
        $looks = [
            'stats', 'stats --format=prometheus', 'list ready', 'list delayed', 'list buried', 'list reserved', 'list ready --group=g', 'show a',
            'groups', 'limit', 'receipts', 'workers', 'check --max-age=1h --max-buried=9 --max-lateness-p99=1h --min-workers=0', 'dump --limits',
        ];
        foreach ($looks as $look) {
            $printed = $this->cliExpecting(0, ...[...explode(' ', $look), $dsn]);
        }
        $this->assertSame($before, preg_replace('/"dump":"\w+"/', '', $printed));
        foreach (['push 1', 'cancel a', 'cancel --group=g --force', 'purge --force', 'pause', 'pause --group=g', 'limit --others --weight=2', 'rate-limit 1m', 'kick b', 'update a 1'] as $change) {
            $this->cliExpecting(4, ...[...explode(' ', $change), $dsn]);
        }
        $this->assertSame($before, preg_replace('/"dump":"\w+"/', '', $this->cliExpecting(0, 'dump', '--limits')));
    }

    public function testDoctorFindsJobsThatLieNowhereAndRepairsThem(): void
    {
        $queue = $this->queue();
        $queue->push('delayed', '1h', id: 'a');
        $queue->push('reserved', id: 'b');
        $this->assertSame('b', $queue->reserve()?->id);
        $this->redis->ask('DEL', 'dq:{' . $this->queueName . '}:waiting', 'dq:{' . $this->queueName . '}:reserved');

        $found = $this->cli('doctor');
        $this->assertSame(1, $found->exitCode, $found->errors);
        $this->assertStringContainsString("2 jobs of queue '{$this->queueName}' lie in no state", $found->output);

        // The lease tells the old place of the one; the due time of the other is lost.
        $repaired = "1 jobs of queue '{$this->queueName}' lay in no state: they are buried, because their due times are lost; kick() or reschedule() them. 1 others";
        $this->assertStringContainsString($repaired, $this->cliExpecting(0, 'doctor', '--repair'));
        $this->assertSame([1, 1], [$queue->count(State::Ready), $queue->count(State::Buried)]);
        $this->assertSame(1, $queue->drain(static fn () => null));
    }

    /** @return list<string> */
    private static function headersOf(string $url): array
    {
        $page = fopen($url, 'r', context: stream_context_create(['http' => ['ignore_errors' => true]]));

        return stream_get_meta_data($page)['wrapper_data'];
    }
}
