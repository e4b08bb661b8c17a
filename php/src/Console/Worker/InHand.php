<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\JobInterface;

/**
 * A note of the jobs that a worker runs now, in a file without a name that it has from its parent. The parent reads it when the worker has ended, however
 * that was. A job costs two writes to the cache of the kernel, and wakes nobody.
 */
final class InHand
{
    /** A chunk may have more. */
    private const MOST = 10;

    /** A forked child of the handler has the file as well. */
    private readonly int $pid;

    /**
     * A new one, for a worker that is to be started. No other program that the parent starts gets it.
     *
     * @return resource|false false: this user may write no temporary files
     */
    public static function file(): mixed
    {
        $path = @tempnam(sys_get_temp_dir(), 'dqw');
        $file = $path === false ? false : @fopen($path, 'r+e');
        $path === false || @unlink($path);

        return $file;
    }

    /** @param resource $file */
    public function __construct(private $file)
    {
        $this->pid = (int) getmypid();
    }

    /** @param list<JobInterface> $jobs none: the handler has returned */
    public function write(array $jobs): void
    {
        if (getmypid() !== $this->pid) {
            return;
        }
        $notes = array_map(
            static fn (JobInterface $job): array => ['queue' => $job->queue, 'id' => $job->id, 'attempt' => $job->attempts, 'of' => $job->maxAttempts],
            array_slice($jobs, 0, self::MOST),
        );
        $line = $jobs === [] ? '' : json_encode(['count' => count($jobs), 'jobs' => $notes], JSON_INVALID_UTF8_SUBSTITUTE);
        fseek($this->file, 0);
        fwrite($this->file, "$line\n");
    }

    /**
     * As its parent reads it.
     *
     * @return array{count: int, jobs: list<array{queue: string, id: string, attempt: int, of: int}>}|null null: it ran none
     */
    public function read(): ?array
    {
        fseek($this->file, 0);

        return json_decode((string) fgets($this->file), true);
    }
}
