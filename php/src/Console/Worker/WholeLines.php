<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use Symfony\Component\Console\Output\ConsoleOutputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Output\StreamOutput;

/**
 * Keeps a handler's output and the lines of the log apart on standard output, which all workers of a pool share. A line that a handler has not ended
 * waits until it has, or until the log has something to say.
 *
 * It sees echo and fwrite(STDOUT), but no stream that the handler has opened by itself, and no program that it runs.
 */
final class WholeLines
{
    /** Bytes of a line that has to wait no longer. */
    private const LONGEST = 65536;

    private const FILTER = 'delayqueue.lines';

    private string $rest = '';

    /** What was passed on last had no end of line. */
    private bool $isWithin = false;

    /** Nothing has to wait any more. */
    private bool $isEnding = false;

    /** A forked child of the handler has a copy of what waits here. */
    private int $pid;

    /** @param resource $stream standard output, but without the filter: after a fatal error PHP writes nothing through that */
    private function __construct(private $stream)
    {
        $this->pid = (int) getmypid();
    }

    /** Null: there is no standard output, or nothing is written to it. */
    public static function watch(OutputInterface $output): ?self
    {
        $stream = !$output instanceof ConsoleOutputInterface || $output->isQuiet() || !defined('STDOUT') ? false : @fopen('php://stdout', 'w');
        if ($stream === false) {
            return null;
        }
        $lines = new self($stream);
        in_array(self::FILTER, stream_get_filters(), true) || stream_filter_register(self::FILTER, LineFilter::class);
        stream_filter_append(STDOUT, self::FILTER, STREAM_FILTER_WRITE, $lines);
        ob_start(static function (string $text) use ($lines): string {
            fwrite($lines->stream, $lines->take($text));

            return '';
        }, 1);
        register_shutdown_function(static function () use ($lines): void {
            $lines->isEnding = true;
            $lines->end();
        });

        return $lines;
    }

    /** For lines of the log. */
    public function output(int $verbosity): OutputInterface
    {
        return new StreamOutput($this->stream, $verbosity);
    }

    /** What is to be written now, where a handler has written this. */
    public function take(string $text): string
    {
        if (getmypid() !== $this->pid) {
            [$this->rest, $this->pid] = ['', (int) getmypid()];
        }
        $text = $this->rest . $text;
        $end = strrpos($text, "\n");
        $length = $this->isEnding || strlen($text) > self::LONGEST ? strlen($text) : ($end === false ? 0 : $end + 1);
        $this->rest = substr($text, $length);
        $this->isWithin = $length > 0 ? $text[$length - 1] !== "\n" : $this->isWithin;

        return substr($text, 0, $length);
    }

    /** Ends the line of a handler, if there is one, so that the next one can be of the log. */
    public function end(): void
    {
        $rest = getmypid() === $this->pid ? $this->rest : '';
        if ($rest !== '' || $this->isWithin) {
            fwrite($this->stream, "$rest\n");
            [$this->rest, $this->isWithin] = ['', false];
        }
    }
}
