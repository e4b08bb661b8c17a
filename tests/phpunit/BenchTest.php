<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PHPUnit\Framework\TestCase;

/** The benchmarks run, in miniature: every table comes, with our row in it. What they measure is not judged. */
final class BenchTest extends TestCase
{
    private const RUN = [
        PHP_BINARY, __DIR__ . '/../../bench/run.php', '--quick', '--runs=1', '--scale=0.005', '--peers=delayqueue,floor',
    ];

    /** All but those that only Rust and valgrind make. */
    private const TABLES = [
        'push', 'push-unix', 'push-many-100', 'push-many-500', 'take', 'consume-1', 'consume-16', 'consume-64',
        'two-workers-1', 'two-workers-64', 'lateness', 'wake', 'idle', 'depth-10000', 'depth-100000', 'depth-1000000',
        'memory', 'stall', 'fpm', 'load',
    ];

    private Folder $folder;

    private Process $process;

    protected function setUp(): void
    {
        $this->folder = new Folder();
    }

    protected function tearDown(): void
    {
        $this->process->kill();
        $this->folder->remove();
    }

    public function testEveryTableIsMade(): void
    {
        $this->process = new Process([...self::RUN, "--out={$this->folder->path}/results"]);
        $said = $this->process->rest(120);
        $this->assertSame(0, $this->process->exitCode(), $said . $this->process->errors());

        $this->assertSame($said, file_get_contents("{$this->folder->path}/results.md"));
        $json = file_get_contents("{$this->folder->path}/results.json");
        $results = json_decode($json, true, flags: JSON_THROW_ON_ERROR);
        $this->assertSame([...self::TABLES, 'goals'], array_keys($results['sections']));
        foreach (self::TABLES as $name) {
            $table = $results['sections'][$name];
            $this->assertSame([], $table['failures'], $name);
            $ours = $table['rows']['delayqueue'] ?? $table['rows']['delayqueue, persistent'];
            $lead = array_key_first($table['columns']);
            $this->assertIsNumeric($ours[$lead]['median'], $name);
            $this->assertStringContainsString("## $table[title]\n", $said);
            $this->assertMatchesRegularExpression('/^\| delayqueue(, persistent)? \| -?[\d.]/m', $said);
        }
        $this->assertStringContainsString("## Goals\n", $said);
    }

    public function testAnInterruptedRunLeavesNothingBehind(): void
    {
        $command = [...self::RUN, '--cases=idle', '--scale=50', "--out={$this->folder->path}/results"];
        $this->process = new Process($command, ['TMPDIR' => $this->folder->path] + getenv());
        Wait::until(fn () => count($this->processes()) === 2, 60, 'the server and the worker of the benchmark');
        $this->process->signal(SIGINT);
        $this->assertSame(128 + SIGINT, $this->process->exitCode());
        Wait::until(fn () => $this->processes() === [], 10, 'the end of server and worker');
        $this->assertSame([], glob("{$this->folder->path}/*"));
    }

    /** @return list<string> those that work in our folder or were told of it, less the benchmark itself */
    private function processes(): array
    {
        return array_values(array_filter(glob('/proc/[0-9]*'), function (string $process): bool {
            $command = stripslashes((string) @file_get_contents("$process/cmdline"));
            $isOurs = str_contains($command . @readlink("$process/cwd"), $this->folder->path);

            return $isOurs && !str_contains($command, 'run.php');
        }));
    }
}
