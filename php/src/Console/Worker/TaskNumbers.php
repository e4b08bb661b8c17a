<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\StreamError;
use DelayQueue\Console\Streams;
use DelayQueue\Internal\Json;
use DelayQueue\JobInterface;

/**
 * How often which task has run, and for how long, in a temporary file that all workers of a parent share. A process beside them shows it to Prometheus.
 * They are not in Redis: names of tasks are of the application, and there may be many.
 */
final class TaskNumbers
{
    /** Set by the parent for its children: the file. */
    private const VARIABLE = 'DELAYQUEUE_TASKS';

    /** Tasks with a name of their own. Whoever pushes chooses names, and each is a series of Prometheus. */
    private const MOST_TASKS = 200;
    private const OTHERS = 'others';
    private const LONGEST_NAME = 100;

    /** A forked child of the handler has the file as well. */
    private readonly int $pid;

    /** @param resource $file */
    private function __construct(private $file)
    {
        $this->pid = (int) getmypid();
    }

    /** In the parent, before it has children. */
    public static function make(): void
    {
        $path = (string) tempnam(sys_get_temp_dir(), 'dqt');
        $pid = getmypid();
        register_shutdown_function(static fn () => getmypid() === $pid && @unlink($path));
        putenv(self::VARIABLE . "=$path");
    }

    /** In its children. Null: nobody asks for the numbers. */
    public static function ofParent(): ?self
    {
        $path = (string) getenv(self::VARIABLE);
        // Not for the programs that a handler starts.
        putenv(self::VARIABLE);
        $file = $path === '' ? false : @fopen($path, 'r+e');

        return $file === false ? null : new self($file);
    }

    /** @throws StreamError when the file cannot be written */
    public function add(JobInterface $job, string $outcome, float $seconds): void
    {
        if (getmypid() !== $this->pid) {
            return;
        }
        $payload = $job->payload;
        $task = is_array($payload) && is_string($payload['task'] ?? null) ? substr($payload['task'], 0, self::LONGEST_NAME) : '';
        flock($this->file, LOCK_EX);
        $all = $this->read();
        $task = isset($all[$job->queue][$task]) || count($all[$job->queue] ?? []) < self::MOST_TASKS ? $task : self::OTHERS;
        [$runs, $sum] = $all[$job->queue][$task][$outcome] ?? [0, 0.0];
        $all[$job->queue][$task][$outcome] = [$runs + 1, $sum + $seconds];
        ftruncate($this->file, 0);
        rewind($this->file);
        try {
            Streams::write($this->file, serialize($all));
        } finally {
            flock($this->file, LOCK_UN);
        }
    }

    /** As Prometheus reads them. */
    public function page(): string
    {
        flock($this->file, LOCK_SH);
        $all = $this->read();
        flock($this->file, LOCK_UN);
        $runs = "# HELP delayqueue_task_runs_total runs of handlers by the name of the task\n# TYPE delayqueue_task_runs_total counter\n";
        $seconds = "# HELP delayqueue_task_seconds_total how long they took\n# TYPE delayqueue_task_seconds_total counter\n";
        foreach ($all as $queue => $tasks) {
            foreach ($tasks as $task => $outcomes) {
                foreach ($outcomes as $outcome => [$number, $sum]) {
                    $labels = sprintf('{queue="%s",task="%s",outcome="%s"}', self::label((string) $queue), self::label((string) $task), $outcome);
                    $runs .= "delayqueue_task_runs_total$labels $number\n";
                    $seconds .= "delayqueue_task_seconds_total$labels " . round($sum, 6) . "\n";
                }
            }
        }

        return $runs . $seconds;
    }

    /** @return array<string, array<string, array<string, array{int, float}>>> runs and seconds by queue, task and outcome */
    private function read(): array
    {
        rewind($this->file);
        $all = @unserialize((string) stream_get_contents($this->file), ['allowed_classes' => false]);

        return is_array($all) ? $all : [];
    }

    private static function label(string $text): string
    {
        $valid = json_decode((string) json_encode($text, JSON_INVALID_UTF8_SUBSTITUTE), flags: JSON_THROW_ON_ERROR);

        return addcslashes(Json::withoutOrders($valid), '\\"');
    }
}
