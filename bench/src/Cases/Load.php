<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Machine;
use DelayQueue\Bench\Numbers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use RuntimeException;

/** What loading the extension adds to a PHP that does nothing. */
final class Load implements Benchmark
{
    private const MEMORY = 'preg_match("/VmRSS:\s+(\d+)/", file_get_contents("/proc/self/status"), $found); echo $found[1], "\n";';

    public function run(Session $session): iterable
    {
        $columns = ['over_ms' => 'over plain PHP ms', 'rss_mib' => 'resident MiB over plain PHP', 'start_ms' => 'whole run p50 ms'];
        $table = new Table('load', 'Starting PHP with the extension (php -n)', $columns, compared: null);
        $rows = ['plain PHP' => [], 'delayqueue' => [Php::extension()], 'phpredis' => Machine::sharedExtensions(['igbinary', 'redis'])];
        if ($rows['phpredis'] === []) {
            unset($rows['phpredis']);
        }
        foreach (range(1, $session->settings->runs) as $run) {
            $session->say("load $run/{$session->settings->runs}");
            $this->measure($session, $rows, $table);
        }
        yield $table;
    }

    public function packages(): array
    {
        return [];
    }

    /** @param array<string, list<string>> $rows extensions to load, by name */
    private function measure(Session $session, array $rows, Table $table): void
    {
        $times = $memory = [];
        for ($round = 0, $rounds = $session->jobs(50, 20, least: 5); $round < $rounds; $round++) {
            foreach ($rows as $name => $extensions) {
                $times[$name][] = self::startMs($extensions);
            }
        }
        foreach ($rows as $name => $extensions) {
            for ($round = 0; $round < 5; $round++) {
                $memory[$name][] = (int) (new Process(self::command($extensions, self::MEMORY)))->line() / 1024;
            }
            $table->add($name, [
                'over_ms' => Numbers::median($times[$name]) - Numbers::median($times['plain PHP']),
                'rss_mib' => Numbers::median($memory[$name]) - Numbers::median($memory['plain PHP']),
                'start_ms' => Numbers::median($times[$name]),
            ]);
        }
    }

    /** @param list<string> $extensions */
    private static function startMs(array $extensions): float
    {
        $null = ['file', '/dev/null', 'r+'];
        $started = hrtime(true);
        $process = proc_open(self::command($extensions, ''), [$null, $null, $null], $pipes);
        if (proc_close($process) !== 0) {
            throw new RuntimeException('PHP does not start with ' . implode(', ', $extensions));
        }

        return (hrtime(true) - $started) / 1e6;
    }

    /**
     * @param list<string> $extensions
     *
     * @return list<string>
     */
    private static function command(array $extensions, string $code): array
    {
        $command = [PHP_BINARY, '-n'];
        foreach ($extensions as $extension) {
            array_push($command, '-d', "extension=$extension");
        }

        return [...$command, '-r', $code];
    }
}
