<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliResult;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** Errors of reading and writing on the command line. */
final class CliStreamsTest extends CliTestCase
{
    public function testEveryCommandNoticesThatItsOutputCannotBeWritten(): void
    {
        $this->queue()->push(1, id: 'a', delay: 60);
        $this->queue()->pushOnce([['receipt' => 'r', 'payload' => 1, 'id' => 'b', 'delay' => 60]]);
        $commands = [
            '', '--version', 'help push', 'completion bash', 'push 1', 'list delayed', 'show a', 'stats',
            'stats --format=prometheus', 'receipts',
            'dump', 'doctor', 'pause', 'groups --format=json', 'outbox:install --print --database=sqlite:', 'cancel a',
            'workers --format=json',
        ];
        foreach ($commands as $command) {
            $result = $this->shell("delayqueue $command > /dev/full");
            $this->assertSame(1, $result->exitCode, "$command: $result->errors");
            $expected = "delayqueue: cannot write to standard output: No space left on device (0 lines were written)\n";
            $this->assertSame($expected, $result->errors, $command);
        }
        foreach (['>&-', '<&- >&-'] as $closed) {
            $result = $this->shell("delayqueue dump $closed");
            $this->assertSame(1, $result->exitCode);
            $this->assertStringContainsString('Bad file descriptor', $result->errors);
        }
        $this->assertSame(1, $this->shell('delayqueue stats <&- >&- 2>&-')->exitCode, 'Redis does not get the table');
        $this->assertSame(0, $this->shell('delayqueue stats <&-')->exitCode);
        $this->assertSame(3, $this->shell('delayqueue check > /dev/full')->exitCode, 'unknown, for Nagios');
    }

    public function testADumpOntoAFullDiskTellsHowManyLinesItHas(): void
    {
        $this->queue()->pushMany(array_fill(0, 1000, ['payload' => 1, 'delay' => 60]));
        $file = $this->file('cut.ndjson');
        // Blocks of 1024 bytes; the signal would end it without a word.
        $result = $this->shell("trap '' XFSZ; ulimit -f 100; delayqueue dump > $file");
        $this->assertSame(1, $result->exitCode);
        $lines = count(array_filter(file($file), static fn (string $line): bool => str_ends_with($line, "\n")));
        $this->assertGreaterThan(100, $lines);
        $this->assertSame(
            "delayqueue: cannot write to standard output: File too large ($lines lines were written)\n",
            $result->errors,
        );
    }

    public function testACommandWhoseReaderEndsIsQuiet(): void
    {
        $this->queue()->pushMany(array_fill(0, 3000, ['payload' => 1, 'delay' => 60]));
        foreach (['dump', 'list delayed --limit=3000', 'stats --watch=0.01'] as $command) {
            $result = $this->shell("{ delayqueue $command; echo \$? >&2; } | head -1");
            $this->assertSame("141\n", $result->errors, $command);
            $this->assertSame(1, substr_count($result->output, "\n"), $command);
        }
    }

    public function testASlowReaderOfAPipeThatDoesNotBlockGetsAll(): void
    {
        $this->queue()->pushMany(array_fill(0, 1000, ['payload' => 1, 'delay' => 60]));
        // It is the pipe that blocks or not, for all that have it.
        $unblock = PHP_BINARY . " -n -r 'stream_set_blocking(STDOUT, false);'";
        $result = $this->shell("{ $unblock; delayqueue dump; } | { sleep 0.5; wc -l; }");
        $this->assertSame('1001', trim($result->output), $result->errors);
    }

    public function testLoadTakesNoErrorOfReadingForTheEnd(): void
    {
        $folder = $this->redis->folder->path;
        $memory = '/proc/self/mem';
        foreach ([$folder => 'Is a directory', $memory => 'Input/output error'] as $file => $why) {
            $name = "cannot read $file: $why (0 loaded, 0 kept before that)";
            $this->assertSame("delayqueue: $name\n", $this->cliExpecting(1, 'load', $file));
            $fromInput = $this->shell("delayqueue load < $file");
            $this->assertSame(1, $fromInput->exitCode);
            $this->assertStringContainsString("cannot read standard input: $why", $fromInput->errors);
        }
        $this->assertStringContainsString(
            'No such file or directory',
            $this->cliExpecting(2, 'load', "$folder/nowhere"),
        );
    }

    public function testNoInputIsReadInPart(): void
    {
        $folder = $this->redis->folder->path;
        $push = $this->shell("delayqueue push --raw < $folder");
        $this->assertSame(1, $push->exitCode);
        $this->assertStringContainsString('cannot read the payload from standard input: Is a directory', $push->errors);
        $this->assertCount(0, $this->queue());

        chmod($folder, 0o700);
        $this->assertStringContainsString(
            "cannot read the keys file $folder: Is a directory",
            $this->cliExpecting(2, 'stats', "--keys-file=$folder"),
        );
        symlink('/proc/self/mem', "$folder/schedules.json");
        $errors = $this->cliExpecting(2, 'schedules:set', "$folder/schedules.json");
        $this->assertSame("delayqueue: cannot read $folder/schedules.json: Input/output error\n", $errors);
        $login = ['--user=ops', "--password-file=$folder"];
        $this->assertStringContainsString(
            "cannot read the password file $folder: Is a directory",
            $this->cliExpecting(2, 'dashboard', ...$login),
        );
    }

    public function testAWorkerGoesOnWhereItsLogCannotBeWrittenAndSaysSo(): void
    {
        $handler = $this->file('handler.php', '<?php return static function ($job): void { echo "hello\n"; };');
        $says = '/cannot write the log (to standard output|\/dev\/full): No space left on device$/m';
        $runs = [
            "drain $handler > /dev/full" => [1, 1],
            "drain $handler --log-file=/dev/full" => [1, 1],
            "drain -q $handler > /dev/full" => [0, 0],
            "work $handler --stop-when-empty > /dev/full" => [0, 1],
            "work $handler --stop-when-empty --log-file=/dev/full > /dev/full" => [0, 1],
            "work $handler --stop-when-empty --processes=2 --prefetch=10 > /dev/full" => [0, 1],
        ];
        foreach ($runs as $command => [$exitCode, $times]) {
            $this->queue()->pushMany(array_fill(0, 5, ['payload' => 1]));
            $result = $this->shell("delayqueue $command");
            $this->assertSame($exitCode, $result->exitCode, "$command: $result->errors");
            $said = preg_match_all($says, $result->errors);
            $this->assertTrue($times === 0 ? $said === 0 : $said >= 1 && $said <= 2, "$command: $result->errors");
            $this->assertSame([0, 0], [count($this->queue()), $this->queue()->count(State::Buried)], $command);
        }
    }

    public function testALogThatCanBeWrittenAgainSaysWhatItLacks(): void
    {
        $log = $this->file('log', str_repeat("an old line\n", 1000)); // standard error is a file, too, and shorter
        $handler = $this->file('handler.php', '<?php return static fn ($job) => null;');
        $worker = $this->started('trap "" XFSZ; ', "work $handler --log-file=$log");
        $this->heard($worker, '/is ready/');
        $limit = fn (string $bytes): string =>
            $this->shell("prlimit --pid=$worker->pid --fsize=$bytes:unlimited")->errors;
        $push = function (string $id): void {
            $this->queue()->push(1, id: $id);
            Wait::until(fn (): bool => count($this->queue()) === 0, 20.0, "$id is done");
        };
        $this->assertSame('', $limit('12020'));
        $push('one');
        $this->heard($worker, '/cannot write the log .+: File too large/');
        $push('two');
        $this->assertSame('', $limit('unlimited'));
        $push('three');
        $this->heard($worker, '/is written again, without 2 lines/');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $this->finish($worker)->exitCode);
        $lines = file($log);
        $this->assertStringContainsString(' three attempt 1', end($lines));
        $this->assertMatchesRegularExpression('/^\d{4}-[^ ]+ \S+ three /', end($lines), 'on a line of its own');
    }

    /** Runs a line of bash, in which delayqueue is the command line. */
    private function shell(string $line): CliResult
    {
        return $this->finish($this->started('delayqueue() { ' . self::program() . ' "$@"; }; ' . $line));
    }

    /** @param string $command of delayqueue, which takes the place of the shell; empty: none */
    private function started(string $line, string $command = ''): Process
    {
        return new Process(
            ['bash', '-c', $line . ($command === '' ? '' : 'exec ' . self::program() . " $command")],
            $this->environment(),
        );
    }

    private static function program(): string
    {
        return PHP_BINARY . ' ' . realpath(self::BINARY);
    }
}
