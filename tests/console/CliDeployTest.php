<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** The sample units of php/examples/deploy, run: by supervisord itself, and line by line as systemd would. */
final class CliDeployTest extends CliTestCase
{
    private const UNITS = __DIR__ . '/../../php/examples/deploy';

    public function testSupervisordKeepsThemRunningAndStopsThemGracefully(): void
    {
        $supervisord = new Process(['supervisord', '--configuration', $this->supervisorConfiguration()], $this->environment());
        $errors = fn (): string => (string) @file_get_contents("{$this->redis->folder->path}/delayqueue-orders.err");
        try {
            $this->readyIn($errors, 4);
            $parent = $this->pidOf('delayqueue-orders');

            $this->queue()->push(['do' => 'wait'], id: 'first', ttr: 1);
            posix_kill($this->holder('first'), SIGKILL);
            $this->letGo('first');
            $this->readyIn($errors, 5);
            $this->assertSame($parent, $this->pidOf('delayqueue-orders'), 'a worker is replaced by its parent');
            Wait::until(fn () => $this->done() === ['first'], 20, 'and another does its job');

            posix_kill($parent, SIGKILL);
            $this->readyIn($errors, 9);
            $this->assertNotSame($parent, $this->pidOf('delayqueue-orders'), 'a parent is replaced by supervisord');

            $this->supervisorctl('signal', 'HUP', 'delayqueue-orders');
            $this->readyIn($errors, 13);

            $this->queue()->push(['do' => 'wait'], id: 'second');
            $this->holder('second');
            $stop = new Process(['supervisorctl', '-c', $this->supervisorConfiguration(), 'stop', 'delayqueue-orders']);
            Wait::until(static fn () => str_contains($errors(), 'stopping: '), 20, 'it is told to stop');
            $this->letGo('second');
            $this->assertSame("delayqueue-orders: stopped\n", $stop->rest(20));
            $this->assertSame(['first', 'second'], $this->done());
            $this->assertSame(0, count($this->queue()));
        } finally {
            $supervisord->signal(SIGTERM);
            $supervisord->exitCode(20);
        }
        $this->assertStringContainsString(' second attempt 1, ', (string) file_get_contents("{$this->redis->folder->path}/delayqueue-orders.log"));
    }

    public function testWhatTheSystemdUnitSaysStartsReloadsAndStopsThem(): void
    {
        $file = self::UNITS . '/delayqueue-worker@.service';
        preg_match_all('/^(\w+)=(.*)$/m', (string) file_get_contents($file), $lines);
        $unit = array_combine($lines[1], $lines[2]);
        $this->assertSame(['notify', 'mixed', 'always'], [$unit['Type'], $unit['KillMode'], $unit['Restart']]);

        $this->assertSame('infinity', $unit['TimeoutStartSec'], 'it is not ready before Redis answers');

        $command = explode(' ', strtr($this->here($unit['ExecStart']), ['%i' => $this->queueName]));
        $worker = new Process($command, ['DELAYQUEUE_QUEUE' => 'not-this-one'] + $this->environment());
        $errors = static fn (): string => $worker->errors();
        $this->readyIn($errors, 4);

        exec(strtr($unit['ExecReload'], ['$MAINPID' => (string) $worker->pid]), $output, $status);
        $this->assertSame(0, $status);
        $this->readyIn($errors, 8);

        $this->queue()->push(['do' => 'wait'], id: 'a');
        $this->holder('a');
        $worker->signal(constant($unit['KillSignal']));
        Wait::until(static fn () => str_contains($errors(), 'stopping: '), 20, 'it is told to stop');
        $this->letGo('a');
        $this->assertSame(0, $worker->exitCode(20), $worker->errors());
        $this->assertSame(['a'], $this->done());
        $this->assertGreaterThan(50, (int) $unit['TimeoutStopSec'], 'longer than the --timeout of a job');
        $this->assertStringContainsString('--timeout=50 ', $unit['ExecStart']);
        $this->assertStopsInTime($unit['ExecStart'], (int) $unit['TimeoutStopSec']);

        $wrong = new Process([...$command, '--nosuch'], $this->environment());
        $this->assertSame((int) $unit['RestartPreventExitStatus'], $wrong->exitCode(20));
    }

    /** The workers have ended before the supervisor would kill them. */
    private function assertStopsInTime(string $command, int $limit): void
    {
        $this->assertSame(2, preg_match_all('/ --(?:shutdown|grace)-timeout=(\d+)/', $command, $found), $command);
        $this->assertSame((string) ($limit - 5), $found[1][0]);
        $this->assertLessThan($limit, array_sum($found[1]));
    }

    /** The sample with the paths of this test, and what the main configuration of a supervisord has. */
    private function supervisorConfiguration(): string
    {
        $folder = $this->redis->folder->path;
        $sample = $this->here((string) file_get_contents(self::UNITS . '/supervisor.conf'));
        // The test is no root that could be www-data, and its Redis is its own.
        $sample = (string) preg_replace(['/^user=.*\n/m', '/^environment=.*\n/m'], '', $sample, -1, $replaced);
        $this->assertSame(2, $replaced);
        preg_match_all('/^(\w+)=(.*)$/m', $sample, $lines);
        $program = array_combine($lines[1], $lines[2]);
        $this->assertStopsInTime($program['command'], (int) $program['stopwaitsecs']);
        $sample = strtr($sample, ['--queue=orders' => "--queue=$this->queueName", '/var/log/' => "$folder/"]);
        file_put_contents("$folder/supervisor.conf", <<<INI
            [supervisord]
            nodaemon=true
            logfile=$folder/supervisord.log
            pidfile=$folder/supervisord.pid
            childlogdir=$folder
            [unix_http_server]
            file=$folder/supervisor.sock
            [supervisorctl]
            serverurl=unix://$folder/supervisor.sock
            [rpcinterface:supervisor]
            supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
            $sample
            INI);

        return "$folder/supervisor.conf";
    }

    /** A command of a sample, with the paths that are here. */
    private function here(string $command): string
    {
        $paths = [
            '/usr/bin/php ' => PHP_BINARY . ' ',
            '/srv/shop/current/vendor/bin/delayqueue' => (string) realpath(self::BINARY),
            '/srv/shop/current/worker.php' => (string) realpath(self::HANDLER),
        ];
        foreach (array_keys($paths) as $path) {
            $this->assertStringContainsString($path, $command);
        }

        return strtr($command, $paths);
    }

    private function supervisorctl(string ...$arguments): string
    {
        $process = new Process(['supervisorctl', '-c', $this->supervisorConfiguration(), ...$arguments]);
        $output = $process->rest(20);
        $process->exitCode();

        return $output;
    }

    private function pidOf(string $program): int
    {
        return (int) $this->supervisorctl('pid', $program);
    }

    /** Waits until so many workers have become ready since the beginning. */
    private function readyIn(callable $errors, int $number): void
    {
        Wait::until(static fn () => substr_count($errors(), ' is ready') >= $number, 30, "$number workers were ready");
    }
}
