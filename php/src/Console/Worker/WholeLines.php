<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

/**
 * Keeps a handler's output and the lines of the log apart on standard output, which all workers of a pool share. A line that a handler has not ended
 * waits until it has, or until the log has something to say.
 *
 * That is for echo. What is written to STDOUT is only noticed: a filter would see it, but then no program could be started with STDOUT, and PHP drops
 * what is written through such a filter after a fatal error.
 */
final class WholeLines
{
    /** Bytes of a line that has to wait no longer. */
    private const LONGEST = 65536;

    private string $rest = '';

    /** The output may end within a line. */
    private bool $isWithin = false;

    /** How much was written to STDOUT when the output was last known. */
    private int $written = 0;

    /** Nothing has to wait any more. */
    private bool $isEnding = false;

    /** A forked child of the handler has a copy of what waits here. */
    private int $pid;

    /** @param LogOutput $log to standard output; STDOUT counts what handlers write to it */
    public function __construct(private readonly LogOutput $log)
    {
        $this->pid = (int) getmypid();
        $this->written = self::written();
        $this->buffer();
        register_shutdown_function(function (): void {
            $this->isEnding = true;
            $this->end();
        });
    }

    /** Ends the line of a handler, if there is one, so that the next one can be of the log. */
    public function end(): void
    {
        $this->know();
        if (ob_get_level() === 0 && !$this->isEnding) {
            // A handler has ended all buffers, and may have written since.
            $this->isWithin = true;
            $this->buffer();
        }
        if ($this->rest !== '' || $this->isWithin || self::written() !== $this->written) {
            $this->write("$this->rest\n");
            $this->rest = '';
        }
    }

    private function buffer(): void
    {
        ob_start(function (string $text): string {
            $this->take($text);

            return '';
        }, 1);
    }

    private function take(string $text): void
    {
        $this->know();
        $text = $this->rest . $text;
        $end = strrpos($text, "\n");
        $length = $this->isEnding || strlen($text) > self::LONGEST ? strlen($text) : ($end === false ? 0 : $end + 1);
        $this->rest = substr($text, $length);
        $length === 0 || $this->write(substr($text, 0, $length));
    }

    private function write(string $text): void
    {
        $this->log->pass($text);
        $this->isWithin = !str_ends_with($text, "\n");
        $this->written = self::written();
    }

    /** In which process this is. */
    private function know(): void
    {
        if (getmypid() !== $this->pid) {
            [$this->rest, $this->pid] = ['', (int) getmypid()];
        }
    }

    private static function written(): int
    {
        return is_resource(STDOUT) ? (int) ftell(STDOUT) : 0;
    }
}
