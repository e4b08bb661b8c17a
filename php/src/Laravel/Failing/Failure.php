<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Failing;

use DelayQueue\Job as NativeJob;
use Throwable;

/**
 * The last failure of a job, until it is in failed_jobs. The job keeps it in a header, so that a worker that takes over
 * records the failure instead of running the job again.
 */
final class Failure
{
    /** How often a job whose failure could not be recorded is released to try that again. */
    public const RELEASES = 10;

    /** Seconds until then. */
    public const DELAY = 30;

    private const HEADER = 'dq-failure';

    /** Bytes of the exception that are kept, where the other headers of the job leave room for them. */
    private const MOST = 4000;

    /** Bytes that all headers of a job may have. */
    private const ROOM = 8192;

    private function __construct(
        public readonly string $why,
        /** How often recording was begun. */
        public readonly int $attempts = 0,
        /** failed() of the job has returned. */
        public readonly bool $isTold = false,
    ) {
    }

    public static function because(Throwable|string $why): self
    {
        $text = is_string($why) ? $why : self::described($why);

        return new self(mb_strcut(mb_scrub($text, 'UTF-8'), 0, self::MOST, 'UTF-8'));
    }

    /** Null: the job has not failed, or that is recorded. */
    public static function of(NativeJob $job): ?self
    {
        $stored = json_decode($job->headers[self::HEADER] ?? '', true);
        if (!is_string($stored['why'] ?? null) || !is_int($stored['attempts'] ?? null)) {
            return null;
        }

        return new self($stored['why'], $stored['attempts'], ($stored['told'] ?? null) === true);
    }

    public function begun(): self
    {
        return new self($this->why, $this->attempts + 1, $this->isTold);
    }

    public function told(): self
    {
        return new self($this->why, $this->attempts, true);
    }

    /** The class, message and place of the exception, in one line. */
    public function summary(): string
    {
        return mb_strcut((string) strtok($this->why, "\n"), 0, 500, 'UTF-8');
    }

    public function exception(): FailedEarlier
    {
        return new FailedEarlier($this->why);
    }

    public function storeIn(NativeJob $job): void
    {
        $others = array_diff_key($job->headers, [self::HEADER => true]);
        $used = strlen(implode('', array_keys($others)) . implode('', $others)) + strlen(self::HEADER);
        $over = max(0, $used + strlen($this->encoded()) - self::ROOM);
        // Each byte less makes the header shorter by one byte at least.
        $header = $over === 0 ? $this->encoded() : $this->cutBy($over)->encoded();
        if ($used + strlen($header) <= self::ROOM) {
            $job->update(headers: [self::HEADER => $header]);
        }
    }

    /** A job that is kicked later runs again. */
    public static function removeFrom(NativeJob $job): void
    {
        $job->update(headers: [self::HEADER => null]);
    }

    /** As PHP prints it, but for the arguments of calls, which may be secret. */
    private static function described(Throwable $error): string
    {
        $text = $error::class . ": {$error->getMessage()} in {$error->getFile()}:{$error->getLine()}\nStack trace:";
        foreach ($error->getTrace() as $n => $call) {
            $at = isset($call['file']) ? "{$call['file']}({$call['line']})" : '[internal function]';
            $text .= "\n#$n $at: " . ($call['class'] ?? '') . ($call['type'] ?? '') . "{$call['function']}()";
        }

        return $error->getPrevious() === null ? $text : "$text\n\nCaused by " . self::described($error->getPrevious());
    }

    private function encoded(): string
    {
        $stored = ['attempts' => $this->attempts, 'told' => $this->isTold, 'why' => $this->why];

        return json_encode($stored, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR);
    }

    private function cutBy(int $bytes): self
    {
        $why = mb_strcut($this->why, 0, max(0, strlen($this->why) - $bytes), 'UTF-8');

        return new self($why, $this->attempts, $this->isTold);
    }
}
