<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue\NewJob;
use DelayQueue\Tests\Database\Support\DatabaseCliTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** The sample units of a relay by itself in php/examples/deploy, run: by supervisord itself, and line by line as systemd would. */
final class RelayDeployTest extends DatabaseCliTestCase
{
    private const UNITS = __DIR__ . '/../../php/examples/deploy';

    public function testSupervisordKeepsItRunningAndStopsIt(): void
    {
        $this->useDatabase('sqlite');
        $folder = $this->redis->folder->path;
        $sample = (string) preg_replace(['/^user=.*\n/m', '/^environment=.*\n/m'], '', $this->here('supervisor-relay.conf'), -1, $replaced);
        $this->assertSame(2, $replaced, 'the test has another user, Redis and database');
        $sample = strtr($sample, ['/var/log/' => "$folder/"]);
        file_put_contents("$folder/supervisor.conf", "[supervisord]\nnodaemon=true\nlogfile=$folder/supervisord.log\npidfile=$folder/supervisord.pid\nchildlogdir=$folder\n$sample");
        $supervisord = new Process(['supervisord', '--configuration', "$folder/supervisor.conf"], $this->environment());
        $said = static fn (): string => (string) @file_get_contents("$folder/delayqueue-relay.err");
        try {
            $this->assertWorks($said, 1);
            preg_match('/relay \(process (\d+)\) is ready/', $said(), $found);
            posix_kill((int) $found[1], SIGKILL);
            $this->assertWorks($said, 2);
        } finally {
            $supervisord->signal(SIGTERM);
            $supervisord->exitCode(20);
        }
        $this->assertMatchesRegularExpression('/relay \(process \d+\) stopped$/', trim($said()));
    }

    public function testWhatTheSystemdUnitSaysStartsAndStopsIt(): void
    {
        $this->useDatabase('sqlite');
        preg_match_all('/^(\w+)=(.*)$/m', $this->here('delayqueue-relay.service'), $lines);
        $unit = array_combine($lines[1], $lines[2]);
        $this->assertSame(['exec', 'always'], [$unit['Type'], $unit['Restart']]);
        $relay = new Process(explode(' ', $unit['ExecStart']), $this->environment());
        $this->assertWorks($relay->errors(...), 1);
        $relay->signal(constant($unit['KillSignal']));
        $this->assertSame(0, $relay->exitCode((float) $unit['TimeoutStopSec']), $relay->errors());

        $wrong = new Process([...explode(' ', $unit['ExecStart']), '--nosuch'], $this->environment());
        $this->assertSame((int) $unit['RestartPreventExitStatus'], $wrong->exitCode(20));
        $this->pdo()->exec('drop table delayqueue_source');
        $early = new Process(explode(' ', $unit['ExecStart']), $this->environment());
        $this->assertSame(5, $early->exitCode(20), 'it is started again');
    }

    /** It is ready for the nth time, and brings a row. */
    private function assertWorks(callable $said, int $time): void
    {
        Wait::until(static fn (): bool => substr_count($said(), ' is ready: ') >= $time, 20, 'a relay is ready');
        $this->outbox()->push($this->queueName, new NewJob(1));
        $this->pdo()->exec('update delayqueue_outbox set placed = placed - 10000000');
        Wait::until(fn (): bool => count($this->queue()) === $time, 20, 'the row arrives');
    }

    /** A sample with the paths that are here. */
    private function here(string $file): string
    {
        $sample = (string) file_get_contents(self::UNITS . "/$file");
        $paths = ['/usr/bin/php ' => PHP_BINARY . ' ', '/srv/shop/current/vendor/bin/delayqueue' => (string) realpath(self::BINARY)];
        foreach (array_keys($paths) as $path) {
            $this->assertStringContainsString($path, $sample);
        }

        return strtr($sample, $paths);
    }
}
