<?php

declare(strict_types=1);

/** A PHP process of the demo's, known by its process id. What it prints goes to a log file. */
final class Child
{
    public readonly int $pid;

    /** @var resource|null */
    private $process;

    /** @param list<string> $arguments of the PHP command line */
    public function __construct(public readonly string $name, array $arguments, private readonly string $log)
    {
        $output = ['file', $log, 'a'];
        $process = proc_open([PHP_BINARY, ...$arguments], [['file', '/dev/null', 'r'], $output, $output], $pipes);
        if ($process === false) {
            throw new RuntimeException("cannot start $name");
        }
        $this->process = $process;
        $this->pid = proc_get_status($process)['pid'];
    }

    public function isRunning(): bool
    {
        return $this->process !== null && proc_get_status($this->process)['running'];
    }

    /** Kills it with no chance to tidy up. */
    public function kill(): void
    {
        $this->end(SIGKILL);
    }

    /** Lets it finish what it has in hand for up to 3 s. */
    public function stop(): void
    {
        $this->end(SIGTERM);
    }

    public function output(): string
    {
        return (string) @file_get_contents($this->log);
    }

    private function end(int $signal): void
    {
        if ($this->process === null) {
            return;
        }
        proc_terminate($this->process, $signal);
        for ($deadline = microtime(true) + 3; $this->isRunning() && microtime(true) < $deadline;) {
            usleep(10_000);
        }
        if ($this->isRunning()) {
            proc_terminate($this->process, SIGKILL);
        }
        proc_close($this->process);
        $this->process = null;
    }
}
