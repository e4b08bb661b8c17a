<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue\Tests\Support\Process;
use JsonException;
use RuntimeException;

/** A process that runs work.php. */
final class Child
{
    public readonly Process $process;

    private string $name;

    /**
     * @param list<string> $under a command to run it under, such as valgrind's
     * @param array<string, string> $environment what differs from the environment of this process
     */
    public function __construct(Task $task, array $under = [], array $environment = [])
    {
        $this->name = "$task->work with $task->peer";
        $command = [...$under, PHP_BINARY, dirname(__DIR__) . '/work.php', json_encode($task, JSON_THROW_ON_ERROR)];
        $this->process = Signals::hold(static fn () => new Process($command, $environment + getenv()));
    }

    /**
     * @param list<string> $under
     * @param array<string, string> $environment
     *
     * @return array<string, int|float|list<float>> what it measured
     */
    public static function run(Task $task, array $under = [], array $environment = []): array
    {
        return (new self($task, $under, $environment))->result();
    }

    public function waitUntilReady(): void
    {
        $this->process->hear('ready', 120);
    }

    public function start(): void
    {
        $this->process->say('go');
    }

    /**
     * @return array<string, int|float|list<float>>
     *
     * @throws RuntimeException when it failed, with what it said
     */
    public function result(float $patience = 600): array
    {
        $lines = explode("\n", trim($this->process->rest($patience)));
        try {
            if ($this->process->exitCode($patience) === 0) {
                return json_decode(end($lines), true, flags: JSON_THROW_ON_ERROR);
            }
        } catch (JsonException) {
        }
        throw new RuntimeException("$this->name failed: " . trim(implode("\n", $lines) . "\n" . $this->process->errors()));
    }
}
