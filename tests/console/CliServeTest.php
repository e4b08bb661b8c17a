<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\Exception;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\FreePort;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\RedisClient;
use DelayQueue\Tests\Support\Wait;

/** delayqueue serve: a Redis with the right settings that keeps what it was given. */
final class CliServeTest extends CliTestCase
{
    private string $folder;

    protected function setUp(): void
    {
        parent::setUp();
        $this->folder = $this->redis->folder->path . '/with space';
    }

    public function testItServesWhereItSaysWithSettingsThatTheDoctorApprovesOf(): void
    {
        [$server, $dsn] = $this->serve();
        $this->assertSame("redis+unix://{$this->redis->folder->path}/with%20space/redis.sock?db=0", $dsn);
        $this->assertSame('0700', substr(sprintf('%o', fileperms($this->folder)), -4));
        $findings = array_column($this->json('doctor', '--format=json', "--dsn=$dsn"), 'level', 'check');
        $this->assertSame(['ok', 'ok'], [$findings['persistence'], $findings['eviction']]);
        $this->assertNotContains('error', $findings);
        $server->signal(SIGINT);
        $this->assertSame(0, $server->exitCode());
    }

    /** As a deploy makes folders, and with what a server without our rights has left there. */
    public function testDataIsForItsUserOnlyInAFolderThatWasOpen(): void
    {
        mkdir("$this->folder/appendonlydir", 0o755, true);
        foreach (['appendonlydir/old.aof', 'old.rdb', 'notes.txt'] as $name) {
            file_put_contents("$this->folder/$name", '');
            chmod("$this->folder/$name", 0o644);
        }
        chmod($this->folder, 0o755);
        $before = umask(0o022);
        try {
            [$server, $dsn] = $this->serve();
        } finally {
            umask($before);
        }
        (new DelayQueue('orders', $dsn))->push(['card' => 'secret'], 60);
        $this->heard($server, '/^delayqueue: other users could read the data in .*with space; from now on they cannot$/m');

        $rights = fn (string $name): string => sprintf('%o', fileperms("$this->folder/$name") & 0o777);
        $this->assertSame(['755', '644'], [$rights(''), $rights('notes.txt')], 'files of anybody else\'s are left alone');
        $names = array_diff(scandir($this->folder), ['.', '..', 'notes.txt']);
        $names = [...$names, ...array_map(static fn (string $name): string => "appendonlydir/$name", array_diff(scandir("$this->folder/appendonlydir"), ['.', '..']))];
        $this->assertGreaterThanOrEqual(5, count($names), implode(' ', $names));
        foreach ($names as $name) {
            $this->assertSame('00', substr($rights($name), -2), $name);
        }
    }

    public function testAFolderWithDataThatCannotBeClosedToOthersIsRefused(): void
    {
        mkdir($this->folder);
        // A file whose rights nobody can change, not even root.
        symlink('/proc/self/status', "$this->folder/old.rdb");
        $this->assertStringContainsString('old.rdb, and its rights are not yours', $this->cliExpecting(1, 'serve', '--dir', $this->folder));
    }

    /** @dataProvider ends */
    #[\PHPUnit\Framework\Attributes\DataProvider('ends')]
    public function testWhatItWasGivenIsThereAgain(int $signal, string $appendfsync): void
    {
        [$server, $dsn] = $this->serve("--appendfsync=$appendfsync");
        (new DelayQueue('orders', $dsn))->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "job-$n"], range(1, 50)));
        $redis = new RedisClient("$this->folder/redis.sock");
        $this->assertSame(['appendfsync', $appendfsync], $redis->ask('CONFIG', 'GET', 'appendfsync'));
        if ($signal === SIGKILL && $appendfsync === 'everysec') {
            // While an fsync is under way, Redis keeps changes to itself: a kill would lose them.
            Wait::until(static fn (): bool => str_contains($redis->ask('INFO', 'persistence'), "aof_buffer_length:0\r\n"), 20, 'the kernel has it');
        }
        $server->signal($signal);
        $this->assertSame($signal === SIGKILL ? SIGKILL : null, $server->endedBy(20));

        [$server, $dsn] = $this->serve();
        $queue = new DelayQueue('orders', $dsn);
        $this->assertSame([50, 50], [count($queue), $queue->peek('job-50')?->payload]);
        $queue->close();
        $server->signal(SIGTERM);
        $this->assertSame(0, $server->exitCode());
    }

    /** @return array<string, array{int, string}> */
    public static function ends(): array
    {
        return ['TERM' => [SIGTERM, 'everysec'], 'KILL' => [SIGKILL, 'everysec'], 'KILL, always' => [SIGKILL, 'always']];
    }

    public function testADaemonAnswersWhenTheCommandIsBackAndKeepsItsFolder(): void
    {
        $dsn = trim($this->cliExpecting(0, 'serve', '--dir', $this->folder, '--daemon'));
        $pid = (int) file_get_contents("$this->folder/redis.pid");
        try {
            $this->assertSame('a', (new DelayQueue('orders', $dsn))->push(1, id: 'a'));
            $this->assertStringContainsString('is being served already', $this->cliExpecting(1, 'serve', '--dir', $this->folder));
            $this->assertSame('600', sprintf('%o', fileperms("$this->folder/redis.log") & 0o777));
        } finally {
            posix_kill($pid, SIGTERM);
        }
        Wait::until(static fn (): bool => @readlink("/proc/$pid/exe") === false, 20, 'the daemon ends');
        [$server, $dsn] = $this->serve();
        $this->assertSame(1, count(new DelayQueue('orders', $dsn)));
        $server->signal(SIGTERM);
        $server->exitCode();
    }

    /** As by the line of the page, export DELAYQUEUE_DSN="$(…)", which would export nothing. */
    public function testADaemonThatRunsAlreadyIsToldAgain(): void
    {
        $port = FreePort::find();
        $again = ['serve', '--dir', $this->folder, '--daemon'];
        $told = $this->cliExpecting(0, ...[...$again, "--port=$port"]);
        $this->assertMatchesRegularExpression('~^redis\+unix://\S+\n$~D', $told, 'one line, for a variable');
        $pid = (int) file_get_contents("$this->folder/redis.pid");
        try {
            foreach ([[], ["--port=$port"], ['--maxmemory=0', '--appendfsync=everysec']] as $options) {
                $result = $this->cli(...$again, ...$options);
                $this->assertSame([0, $told, "delayqueue: $this->folder is being served already\n"], [$result->exitCode, $result->output, $result->errors]);
            }
            $this->assertStringContainsString("is not served with --port=0 but with --port=$port", $this->cliExpecting(1, ...[...$again, '--port=0']));
            $this->assertStringContainsString('is not served with --maxmemory=1gb but with --maxmemory=0', $this->cliExpecting(1, ...[...$again, '--maxmemory=1gb']));
            $this->assertSame($pid, (int) file_get_contents("$this->folder/redis.pid"));
        } finally {
            posix_kill($pid, SIGTERM);
        }
        Wait::until(static fn (): bool => @readlink("/proc/$pid/exe") === false, 20, 'the daemon ends');
    }

    public function testADaemonThatCannotStartSaysWhereTheReasonIs(): void
    {
        $this->assertStringContainsString('redis.log', $this->cliExpecting(1, 'serve', '--dir', $this->folder, '--daemon', '--maxmemory=much'));
    }

    public function testAFolderIsServedOnce(): void
    {
        [$server, $dsn] = $this->serve('--appendfsync=always');
        $this->assertStringContainsString('is being served already', $this->cliExpecting(1, 'serve', '--dir', $this->folder));
        $this->assertSame("$dsn\n", $this->cliExpecting(0, 'serve', '--dir', $this->folder, '--daemon'), 'where it is served');
        $server->signal(SIGSTOP);
        $waiting = $this->start('serve', '--dir', $this->folder, '--daemon');
        $this->heard($waiting, '/is being served already$/m');
        $server->signal(SIGKILL);
        $this->assertSame(1, $this->finish($waiting)->exitCode, 'nothing is served any more');
        $server->endedBy();
        [$server] = $this->serve();
        $server->signal(SIGTERM);
        $this->assertSame(0, $server->exitCode());
    }

    public function testAPortIsOpenedOnTheLoopbackInterfaceOnly(): void
    {
        $port = FreePort::find();
        [$server] = $this->serve("--port=$port", '--maxmemory=64mb');
        $this->assertSame("redis://127.0.0.1:$port/0", $server->line());
        $queue = new DelayQueue('orders', "redis://127.0.0.1:$port/0");
        $this->assertSame('a', $queue->push(1, id: 'a'));
        // As the kernel lists them: address:port in hexadecimal, and state 0A for listening.
        preg_match_all(sprintf('/^ *\d+: (\w+):%04X \w+:0000 0A /m', $port), file_get_contents('/proc/net/tcp') . file_get_contents('/proc/net/tcp6'), $listening);
        $this->assertSame(['0100007F'], $listening[1]);
    }

    public function testWhatCannotWorkIsSaid(): void
    {
        $this->assertStringContainsString('--dir', $this->cliExpecting(2, 'serve', '--dir', "{$this->redis->folder->path}/" . str_repeat('long', 30)));
        $this->assertStringContainsString('nosuch', $this->cliExpecting(1, 'serve', '--dir', $this->folder, '--binary=nosuch'));
        $this->assertStringContainsString('--appendfsync', $this->cliExpecting(2, 'serve', '--dir', $this->folder, '--appendfsync=no'));
        $this->assertStringContainsString('cannot make', $this->cliExpecting(1, 'serve', '--dir=/dev/null/x'));
    }

    /** @return array{Process, string} the server, once it answers, and the DSN it prints */
    private function serve(string ...$options): array
    {
        $server = $this->start('serve', '--dir', $this->folder, ...$options);
        $dsn = $server->line();
        Wait::until(static function () use ($dsn): bool {
            try {
                return (new DelayQueue('orders', $dsn))->count() >= 0;
            } catch (Exception) {
                return false;
            }
        }, 20, 'it answers');

        return [$server, $dsn];
    }
}
