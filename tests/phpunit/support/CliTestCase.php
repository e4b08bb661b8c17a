<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

/** A test of php/bin/delayqueue, against the private Redis of the test unless it says otherwise. */
abstract class CliTestCase extends ProcessTestCase
{
    protected const BINARY = __DIR__ . '/../../../php/bin/delayqueue';

    /** Does by its payload what a test needs, and writes what it did into the file HANDLER_LOG. */
    protected const HANDLER = __DIR__ . '/../programs/cli_handler.php';

    private string $log;

    /** @var list<Process> */
    private array $started = [];

    protected function setUp(): void
    {
        parent::setUp();
        $this->log = $this->redis->folder->path . '/handler.log';
    }

    protected function tearDown(): void
    {
        foreach ($this->started as $process) {
            $process->kill();
        }
        parent::tearDown();
    }

    /** Runs a command to its end, in this process if the command allows that. */
    protected function cli(string ...$arguments): CliResult
    {
        return Commands::mayRun($arguments)
            ? Commands::run($arguments, $this->environment())
            : $this->finish($this->start(...$arguments));
    }

    /** Runs a command that has to end with this exit code, and returns what it printed. */
    protected function cliExpecting(int $exitCode, string ...$arguments): string
    {
        $result = $this->cli(...$arguments);
        $this->assertSame($exitCode, $result->exitCode, $result->output . $result->errors);

        return $exitCode === 0 ? $result->output : $result->errors;
    }

    /** The JSON that a command prints. */
    protected function json(string ...$arguments): mixed
    {
        return json_decode($this->cliExpecting(0, ...$arguments), true, flags: JSON_THROW_ON_ERROR);
    }

    protected function start(string ...$arguments): Process
    {
        return $this->startWith([], ...$arguments);
    }

    /** @param array<string, string> $environment added to the usual one */
    protected function startWith(array $environment, string ...$arguments): Process
    {
        return $this->started[] = new Process([PHP_BINARY, self::BINARY, ...$arguments], $environment + $this->environment());
    }

    protected function finish(Process $process, float $seconds = 30.0): CliResult
    {
        $process->endInput();
        $output = $process->rest($seconds);

        return new CliResult($process->exitCode($seconds), $output, $process->errors());
    }

    /** @return array<string, string> */
    protected function environment(): array
    {
        return ['DELAYQUEUE_DSN' => $this->redis->dsn(), 'DELAYQUEUE_QUEUE' => $this->queueName, 'HANDLER_LOG' => $this->log] + getenv();
    }

    /** The path of a file of the test, which gets the contents that are given. */
    protected function file(string $name, ?string $contents = null): string
    {
        $path = "{$this->redis->folder->path}/$name";
        $contents === null || file_put_contents($path, $contents);

        return $path;
    }

    /** @return list<array{string, string, int}> what the handler did: begin or end, the id, the process */
    protected function handled(): array
    {
        $lines = is_file($this->log) ? file($this->log, FILE_IGNORE_NEW_LINES) : [];

        return array_map(static function (string $line): array {
            [$what, $id, $pid] = explode(' ', $line);

            return [$what, $id, (int) $pid];
        }, $lines);
    }

    /** @return list<string> the ids that the handler was done with, as often as it was */
    protected function done(): array
    {
        return array_column(array_filter($this->handled(), static fn (array $deed): bool => $deed[0] === 'end'), 1);
    }

    /** The process that has begun with this job. */
    protected function holder(string $id, float $seconds = 20.0): int
    {
        return Wait::until(function () use ($id): ?int {
            foreach ($this->handled() as [$what, $job, $pid]) {
                if ($what === 'begin' && $job === $id) {
                    return $pid;
                }
            }

            return null;
        }, $seconds, "a worker begins with $id");
    }

    /** Lets a job end whose payload says wait. */
    protected function letGo(string $id): void
    {
        touch("$this->log.go.$id");
    }

    /** Waits until a process complains of this, and returns the match. */
    protected function heard(Process $process, string $pattern, float $seconds = 20.0): array
    {
        return Wait::until(static function () use ($process, $pattern): ?array {
            return preg_match_all($pattern, $process->errors(), $found, PREG_SET_ORDER) > 0 ? $found : null;
        }, $seconds, "$pattern in what {$process->pid} says: {$process->errors()}");
    }
}
