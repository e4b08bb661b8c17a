<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Bench\Cases;
use DelayQueue\Bench\Delay;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\RedisServer;
use DelayQueue\Bench\Table;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PHPUnit\Framework\TestCase;

/**
 * The benchmarks run, in miniature, and each case gives its table and its figures. The values are not judged.
 *
 * @group verify
 */
#[\PHPUnit\Framework\Attributes\Group('verify')]
final class BenchTest extends TestCase
{
    private const RUN = [PHP_BINARY, __DIR__ . '/../../bench/run.php', '--quick', '--runs=1', '--scale=0.005'];

    /** The figures of the design, in its order; true: measured without another queue. */
    private const FIGURES = [
        'push, of the two-key recipe' => false,
        'push, of beanstalkd' => false,
        'pushMany(100), of the recipe in a pipeline' => false,
        "reserve() + ack(), of beanstalkd's reserve + delete" => false,
        'consume, prefetch 1, of beanstalkd' => false,
        'consume, prefetch 16, of beanstalkd' => false,
        'consume, prefetch 64, of beanstalkd' => false,
        'jobs a second through one Redis core, prefetch 64, three workers' => true,
        'two workers, prefetch 16, of one' => true,
        'prefetch 16 with 5 % retries, own TTRs, and one priority in ten: of the plain queue' => true,
        'over 0.5 ms of added round trip: push, of the recipe' => false,
        'over 0.5 ms of added round trip: prefetch 1, of beanstalkd' => false,
        'over 0.5 ms of added round trip: prefetch 16, of beanstalkd' => false,
        'over 0.5 ms of added round trip: prefetch 64, of beanstalkd' => false,
        'lateness of an idle worker, p50, ms' => true,
        'lateness of an idle worker, p99, ms' => true,
        'never early: the earliest job, ms after its due time' => true,
        'idle commands a second' => true,
        'idle commands a second in a queue that others push to' => true,
        "memory of a job, payloads of 50, 100, … 500 bytes: mean of beanstalkd's" => false,
    ];

    private Folder $folder;

    private ?Process $process = null;

    public static function setUpBeforeClass(): void
    {
        require_once __DIR__ . '/../../bench/autoload.php';
    }

    protected function setUp(): void
    {
        $this->folder = new Folder();
    }

    protected function tearDown(): void
    {
        $this->process?->kill();
        $this->folder->remove();
    }

    public function testEachCaseGivesItsTableAndItsFigures(): void
    {
        [$said, $results] = $this->bench('--peers=delayqueue,floor');

        $this->assertSame(Cases::withFigures(), array_keys($results['tables']));
        foreach ($results['tables'] as $name => $table) {
            $this->assertSame([], $table['failures'], $name);
            $this->assertNotSame([], $table['rows'], $name);
            $lead = array_key_first($table['columns']);
            foreach ($table['rows'] as $row => $metrics) {
                $this->assertCount(1, $metrics[$lead] ?? [], "$name: $row");
            }
            $this->assertStringContainsString("## $table[title]\n", $said);
        }
        $this->assertSame(array_keys(self::FIGURES), array_column($results['figures'], 'figure'));
        foreach ($results['figures'] as $figure) {
            if (self::FIGURES[$figure['figure']]) {
                $this->assertMatchesRegularExpression('/^-?[\d,.]+$/', $figure['measured'], $figure['figure']);
                $this->assertContains($figure['met'], ['yes', 'NO'], $figure['figure']);
            } else {
                $this->assertSame(['not measured', ''], [$figure['measured'], $figure['met']], $figure['figure']);
            }
            $this->assertStringContainsString('| ' . implode(' | ', $figure) . " |\n", $said);
        }
    }

    public function testTheProxyAddsHalfAMillisecondToEachRoundTrip(): void
    {
        [, $results] = $this->bench('--peers=floor', '--cases=network', '--scale=0.1');

        $rows = $results['tables']['network']['rows'];
        $this->assertSame(['floor, push'], array_keys($rows));
        $this->assertGreaterThanOrEqual(500, $rows['floor, push']['p50_us'][0]);
        $this->assertLessThanOrEqual(2000, $rows['floor, push']['jobs_per_s'][0]);
    }

    public function testTheProxyDelaysBytesAndChangesNone(): void
    {
        $server = new RedisServer($this->folder->path);
        $proxy = new Delay(Delay::compile($this->folder->path), $server->endpoint()->port, eachWayUs: 50_000);
        $stream = stream_socket_client("tcp://127.0.0.1:$proxy->port");

        // Many requests at once are late together, not one after the other.
        $started = hrtime(true);
        fwrite($stream, str_repeat("PING\r\n", 100));
        $this->assertSame(str_repeat("+PONG\r\n", 100), stream_get_contents($stream, 700));
        $seconds = (hrtime(true) - $started) / 1e9;
        $this->assertGreaterThanOrEqual(0.1, $seconds);
        $this->assertLessThan(5.0, Machine::without($seconds));

        // More than the proxy holds.
        $bytes = random_bytes(3 << 20);
        fwrite($stream, "*2\r\n\$4\r\nECHO\r\n\$" . strlen($bytes) . "\r\n$bytes\r\n");
        $this->assertSame('$' . strlen($bytes) . "\r\n", fgets($stream));
        $this->assertTrue(stream_get_contents($stream, strlen($bytes)) === $bytes);

        fwrite($stream, "\r\nQUIT\r\n");
        $this->assertSame("\r\n+OK\r\n", stream_get_contents($stream));
    }

    public function testCasesWithoutFiguresRunWhenTheyAreNamed(): void
    {
        [$said, $results] = $this->bench('--peers=delayqueue', '--cases=depth,stall,fpm');

        $this->assertSame(['depth', 'stall', 'fpm'], array_keys($results['tables']));
        $this->assertSame([[], [], []], array_column($results['tables'], 'failures'));
        $this->assertStringNotContainsString('## Figures', $said);
    }

    public function testGroupsAreCountedAndPlainJobsBesideAnotherCommit(): void
    {
        [, $results] = $this->bench('--peers=delayqueue', '--cases=groups', '--before=' . Php::extension());

        $table = $results['tables']['groups'];
        $this->assertSame([], $table['failures']);
        $figures = array_column($results['figures'], null, 'figure');
        $this->assertNotContains('not measured', array_column($figures, 'measured'));
        $rows = ['1,000 groups, a worker: 64', "push() of a group's job: 100", '1,000 groups, a worker: bytes a job', 'reserve(): 1 at once, of before'];
        foreach ([...$rows, '1,000 groups, limitGroups(): longest call, ms'] as $figure) {
            $this->assertArrayHasKey($figure, $figures);
        }
        $this->assertSame('2', $figures['500 jobs of another group, then one: served as number']['measured'] ?? null);
    }

    public function testSchedulesAreRunAndAreLateByATime(): void
    {
        [, $results] = $this->bench('--peers=delayqueue', '--cases=schedules', '--scale=0.002');

        $table = $results['tables']['schedules'];
        $this->assertSame([], $table['failures']);
        $this->assertSame(['200 schedules every 60 s, spread over 0.12 s', '200 lines of cron for each minute'], array_keys($table['rows']));
        $this->assertNotSame('not measured', $results['figures'][0]['measured']);
    }

    public function testTheStoreInMemoryIsMeasuredBesideRedis(): void
    {
        [, $results] = $this->bench('--peers=delayqueue', '--cases=memory-engine');

        $table = $results['tables']['memory-engine'];
        $this->assertSame([], $table['failures']);
        $rows = ['1,000 jobs, Redis', '1,000 jobs, memory://', '100,000 jobs, Redis', '100,000 jobs, memory://'];
        $this->assertSame($rows, array_keys($table['rows']));
        $this->assertCount(9, $results['figures']);
        $this->assertNotContains('not measured', array_column($results['figures'], 'measured'));
    }

    public function testAFigureIsTheMedianOfTheRatiosOfTheRuns(): void
    {
        $table = new Table('push', 'Push', ['jobs_per_s' => 'jobs/s']);
        foreach ([[90, 100], [200, 100], [95, 100]] as $run => [$ours, $theirs]) {
            $table->add('delayqueue', $run, ['jobs_per_s' => $ours]);
            $table->add('two-key', $run, ['jobs_per_s' => $theirs]);
        }
        $table->add('beanstalkd', 1, ['jobs_per_s' => 400]);

        [$ofRecipe, $ofBeanstalkd] = Cases::get('push')->figures($table);
        $expected = ['figure' => 'push, of the two-key recipe', 'measured' => '0.950 (0.900..2)', 'wanted' => '≥ 0.920', 'met' => 'yes'];
        $this->assertSame($expected, $ofRecipe->cells());
        $expected = ['figure' => 'push, of beanstalkd', 'measured' => '0.500', 'wanted' => '≥ 1', 'met' => 'NO'];
        $this->assertSame($expected, $ofBeanstalkd->cells());
    }

    public function testOneEarlyJobInAnyRunIsTooMany(): void
    {
        $table = new Table('lateness', 'Lateness', ['p50_ms' => 'p50 ms', 'p99_ms' => 'p99 ms', 'earliest_ms' => 'earliest ms']);
        foreach ([0.3, -0.01, 0.2] as $run => $earliest) {
            $table->add('delayqueue', $run, ['p50_ms' => 1.2, 'p99_ms' => 4.1, 'earliest_ms' => $earliest]);
        }

        $met = array_map(static fn (Figure $figure) => $figure->isMet(), Cases::get('lateness')->figures($table));
        $this->assertSame([true, false, false], $met);
    }

    public function testMemoryIsTheMeanOfTheRatiosOfAllPayloads(): void
    {
        $columns = array_fill_keys(array_map(static fn (int $bytes) => "bytes_$bytes", range(50, 500, 50)), 'bytes');
        $table = new Table('memory', 'Memory', $columns);
        $table->add('beanstalkd', 0, array_fill_keys(array_keys($columns), 100));
        $table->add('delayqueue', 0, ['bytes_50' => 200] + array_fill_keys(array_keys($columns), 90));

        $this->assertSame('1.01', Cases::get('memory')->figures($table)[0]->cells()['measured']);
    }

    public function testAnInterruptedRunLeavesNothingBehind(): void
    {
        $command = [...self::RUN, '--peers=delayqueue', '--cases=idle', '--scale=50', "--out={$this->folder->path}/results"];
        $this->process = new Process($command, ['TMPDIR' => $this->folder->path] + getenv());
        Wait::until(fn () => count($this->processes()) === 7, 60, 'three servers, two workers and two pushers');
        $this->process->signal(SIGINT);
        $this->assertSame(128 + SIGINT, $this->process->exitCode());
        Wait::until(fn () => $this->processes() === [], 10, 'the end of servers and workers');
        $this->assertSame([], glob("{$this->folder->path}/*"));
    }

    /** @return array{string, array<string, mixed>} the printed report, and the values */
    private function bench(string ...$options): array
    {
        $this->process = new Process([...self::RUN, ...$options, "--out={$this->folder->path}/results"]);
        $said = $this->process->rest(120);
        $this->assertSame(0, $this->process->exitCode(), $said . $this->process->errors());
        $this->assertSame($said, file_get_contents("{$this->folder->path}/results.md"));

        return [$said, json_decode(file_get_contents("{$this->folder->path}/results.json"), true, flags: JSON_THROW_ON_ERROR)];
    }

    /** @return list<string> those that have our folder for their temporary files, less the benchmark itself */
    private function processes(): array
    {
        return array_values(array_filter(glob('/proc/[0-9]*'), function (string $process): bool {
            $command = (string) @file_get_contents("$process/cmdline");
            // Redis puts its title over its environment, but works in the folder.
            $isOurs = str_contains(@file_get_contents("$process/environ") . @readlink("$process/cwd"), $this->folder->path);

            return $isOurs && !str_contains($command, 'run.php');
        }));
    }
}
