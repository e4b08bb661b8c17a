<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/** A child process with lines in and lines out. It dies with the process that started it, at the latest. */
class Process
{
    public readonly int $pid;

    /** @var resource|null */
    private $process;

    /** @var resource */
    private $input;

    /** @var resource */
    private $output;

    private string $errors;

    private string $pending = '';

    private ?int $exitCode = null;

    private ?int $endedBy = null;

    /**
     * @param list<string> $command
     * @param array<string, string>|null $environment null: that of this process
     */
    public function __construct(private readonly array $command, ?array $environment = null)
    {
        $this->errors = (string) tempnam(sys_get_temp_dir(), 'dqp-err-');
        $process = proc_open(
            [...self::leash(), ...$command],
            [['pipe', 'r'], ['pipe', 'w'], ['file', $this->errors, 'a']],
            $pipes,
            null,
            $environment,
        );
        if ($process === false) {
            throw new RuntimeException("cannot start $command[0]");
        }
        $this->process = $process;
        [$this->input, $this->output] = $pipes;
        stream_set_blocking($this->output, false);
        $this->pid = proc_get_status($process)['pid'];
    }

    public function __destruct()
    {
        $this->kill();
    }

    /** Writes a line to its standard input. */
    public function say(string $line): void
    {
        if (@fwrite($this->input, "$line\n") === false) {
            throw new RuntimeException("{$this->name()} does not listen: {$this->errors()}");
        }
    }

    public function endInput(): void
    {
        if (is_resource($this->input)) {
            fclose($this->input);
        }
    }

    /** The next line of its standard output. */
    public function line(float $seconds = 15.0): string
    {
        for ($started = microtime(true); ;) {
            $end = strpos($this->pending, "\n");
            if ($end !== false) {
                $line = substr($this->pending, 0, $end);
                $this->pending = substr($this->pending, $end + 1);

                return $line;
            }
            $left = $seconds - Machine::lasted($started);
            if ($left <= 0) {
                throw new RuntimeException("{$this->name()} said nothing for $seconds s: {$this->errors()}");
            }
            $read = [$this->output];
            $write = $except = [];
            if (@stream_select($read, $write, $except, 0, (int) min(200_000, $left * 1e6)) === 1) {
                $chunk = (string) fread($this->output, 65536);
                if ($chunk === '' && feof($this->output)) {
                    throw new RuntimeException("{$this->name()} ended: {$this->errors()}");
                }
                $this->pending .= $chunk;
            }
        }
    }

    /** The output that nobody has read yet, be it a line or not, without waiting for more. */
    public function said(): string
    {
        [$said, $this->pending] = [$this->pending . (string) @fread($this->output, 65536), ''];

        return $said;
    }

    /** Reads lines until it says this one; the others before it are dropped. */
    public function hear(string $line, float $seconds = 15.0): void
    {
        do {
            $said = $this->line($seconds);
        } while ($said !== $line);
    }

    public function signal(int $signal): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, $signal);
        }
    }

    public function isRunning(): bool
    {
        if ($this->process === null) {
            return false;
        }
        $status = proc_get_status($this->process);
        if (!$status['running'] && $this->exitCode === null) {
            // Told once only.
            $this->exitCode = $status['exitcode'];
            $this->endedBy = $status['signaled'] ? $status['termsig'] : null;
        }

        return $status['running'];
    }

    /** Its exit code, once it has ended by itself. */
    public function exitCode(float $seconds = 10.0): int
    {
        Wait::until(fn () => !$this->isRunning(), $seconds, "the end of {$this->name()}");

        return (int) $this->exitCode;
    }

    /** The signal that ended it. */
    public function endedBy(float $seconds = 10.0): ?int
    {
        $this->exitCode($seconds);

        return $this->endedBy;
    }

    /** Whatever it said that nobody has read, once it has ended. */
    public function rest(float $seconds = 10.0): string
    {
        $started = microtime(true);
        while (!feof($this->output) && Machine::lasted($started) < $seconds) {
            $read = [$this->output];
            $write = $except = [];
            if (@stream_select($read, $write, $except, 0, 100_000) === 1) {
                $this->pending .= (string) fread($this->output, 65536);
            }
        }
        [$rest, $this->pending] = [$this->pending, ''];

        return $rest;
    }

    /** Its standard error. */
    public function errors(): string
    {
        return $this->errors === '' ? '' : (string) @file_get_contents($this->errors);
    }

    /** No chance to tidy up (SIGKILL); returns when it is gone. */
    public function kill(): void
    {
        if ($this->process === null) {
            return;
        }
        if ($this->isRunning()) {
            proc_terminate($this->process, 9);
        }
        $this->endInput();
        fclose($this->output);
        proc_close($this->process);
        $this->process = null;
        @unlink($this->errors);
        $this->errors = '';
    }

    protected function name(): string
    {
        return implode(' ', $this->command);
    }

    /** The command that makes the kernel end the child with its parent, where there is such a command. The process id stays the same. */
    private static function leash(): array
    {
        static $leash = null;

        return $leash ??= is_executable('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--'] : [];
    }
}
