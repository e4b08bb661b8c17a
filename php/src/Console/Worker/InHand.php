<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\JobInterface;

/**
 * A note of the jobs that a worker runs now, in a temporary file that all workers of a parent share. The parent reads it when the worker has ended, however
 * that was. A job costs two writes to the cache of the kernel, and wakes nobody.
 *
 * A file, and only one: PHP cannot wait for sockets in a process that has a thousand files open.
 */
final class InHand
{
    /** Set by the parent for its workers: the place, and the file. */
    public const VARIABLE = 'DELAYQUEUE_IN_HAND';

    /** A batch may have more. */
    private const MOST_JOBS = 10;

    /** Bytes for each worker, more than that many jobs can need. The kernel keeps only what was written. */
    private const ROOM = 65536;

    /** Of a parent; empty: this user may write no temporary files. */
    private static ?string $path = null;

    /** @var resource of a parent */
    private static mixed $shared;

    /** Places of workers that a parent has. @var array<int, true> */
    private static array $taken = [];

    /** A forked child of the handler has the file as well. */
    private readonly int $pid;

    /** @param resource $file */
    private function __construct(private $file, private readonly string $name, private readonly int $place)
    {
        $this->pid = (int) getmypid();
    }

    /** For a worker that is to be started. Null: there is no file. */
    public static function ofParent(): ?self
    {
        clearstatcache();
        // Somebody may tidy up.
        self::$path = self::$path !== null && is_file(self::$path) ? self::$path : self::file();
        if (self::$path === '') {
            return null;
        }
        for ($place = 0; isset(self::$taken[$place]); $place++);
        self::$taken[$place] = true;
        $note = new self(self::$shared, self::$path, $place);
        $note->write([]);

        return $note;
    }

    /** In the worker. Null: nobody reads it. */
    public static function ofWorker(): ?self
    {
        [$place, $path] = explode(' ', (string) getenv(self::VARIABLE), 2) + [1 => ''];
        // Not for the programs that a handler starts.
        putenv(self::VARIABLE);
        $file = $path === '' ? false : @fopen($path, 'r+e');

        return $file === false ? null : new self($file, $path, (int) $place);
    }

    public function __destruct()
    {
        unset(self::$taken[$this->place]);
    }

    /** The parent sets VARIABLE to it. */
    public function value(): string
    {
        return "$this->place $this->name";
    }

    /** Whoever notices the end of a parent that could not do so itself. */
    public function remove(): void
    {
        @unlink($this->name);
    }

    /** @param list<JobInterface> $jobs none: the handler has returned */
    public function write(array $jobs): void
    {
        if (getmypid() !== $this->pid) {
            return;
        }
        $notes = array_map(
            static fn (JobInterface $job): array => ['queue' => $job->queue, 'id' => $job->id, 'attempt' => $job->attempts, 'of' => $job->maxAttempts],
            array_slice($jobs, 0, self::MOST_JOBS),
        );
        $line = $jobs === [] ? '' : json_encode(['count' => count($jobs), 'jobs' => $notes], JSON_INVALID_UTF8_SUBSTITUTE);
        fseek($this->file, $this->place * self::ROOM);
        @fwrite($this->file, "$line\n");
    }

    /**
     * As its parent reads it.
     *
     * @return array{count: int, jobs: list<array{queue: string, id: string, attempt: int, of: int}>}|null null: it ran none
     */
    public function read(): ?array
    {
        fseek($this->file, $this->place * self::ROOM);

        return json_decode((string) fgets($this->file), true);
    }

    private static function file(): string
    {
        $path = @tempnam(sys_get_temp_dir(), 'dqw');
        $file = $path === false ? false : @fopen($path, 'r+e');
        if ($file === false) {
            return '';
        }
        self::$shared = $file;
        $pid = getmypid();
        register_shutdown_function(static fn () => getmypid() === $pid && @unlink($path));

        return $path;
    }
}
