<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\StreamError;
use DelayQueue\Console\Streams;
use DelayQueue\Console\Text;
use Symfony\Component\Console\Output\StreamOutput;

/** The log of a process that goes on where its log cannot be written, and says so on standard error. */
final class LogOutput extends StreamOutput
{
    private const SAY_EVERY_S = 60;

    /** Lines that were not written since the log was last written. */
    private int $lost = 0;

    private bool $hasLost = false;

    /** The log ends within a line that was cut. */
    private bool $isCut = false;

    private ?int $saidAt = null;

    /**
     * @param resource $stream
     * @param string $name of the log, for errors
     */
    public function __construct(
        $stream,
        int $verbosity,
        private readonly string $name,
        private readonly Notices $notices,
    ) {
        parent::__construct($stream, $verbosity);
    }

    /** Whether some of it was not written. */
    public function hasLost(): bool
    {
        return $this->hasLost;
    }

    /** Writes what is no line of the log, such as the output of a handler. */
    public function pass(string $text): void
    {
        $this->doWrite($text, false);
    }

    /** Says it now and then, not for each line. */
    private function complain(StreamError $error): void
    {
        [$this->hasLost, $now] = [true, hrtime(true)];
        if ($this->saidAt === null || $now - $this->saidAt > self::SAY_EVERY_S * 1e9) {
            $this->saidAt = $now;
            $this->notices->say('logFailed', "cannot write $this->name: " . Text::printable($error->getMessage()));
        }
    }

    protected function doWrite(string $message, bool $newline): void
    {
        $end = $this->isCut ? PHP_EOL : '';
        $text = $end . $message . ($newline ? PHP_EOL : '');
        try {
            Streams::write($this->getStream(), $text);
        } catch (StreamError $error) {
            $this->isCut = $error->written > 0 ? $text[$error->written - 1] !== "\n" : $this->isCut;
            $this->lost += max(1, substr_count($text, "\n", max(strlen($end), $error->written)));
            $this->complain($error);

            return;
        }
        $this->isCut = false;
        if ($this->lost > 0) {
            $lines = $this->lost === 1 ? '1 line' : "$this->lost lines";
            $this->notices->say('logRestored', "$this->name is written again, without $lines");
            [$this->lost, $this->saidAt] = [0, null];
        }
    }
}
