<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Output\ConsoleOutput;

/** Standard output of a command. An error of writing ends the command, which Symfony's own class ignores. */
final class StandardOutput extends ConsoleOutput
{
    private int $lines = 0;

    /** @throws StreamError */
    protected function doWrite(string $message, bool $newline): void
    {
        $text = $message . ($newline ? PHP_EOL : '');
        try {
            Streams::write($this->getStream(), $text);
            $this->lines += substr_count($text, "\n");
        } catch (StreamError $error) {
            if ($error->isBrokenPipe()) {
                throw $error;
            }
            $lines = $this->lines + substr_count($text, "\n", 0, $error->written);
            $done = $lines === 1 ? '1 line was' : "$lines lines were";
            $why = "cannot write to standard output: {$error->getMessage()} ($done written)";
            throw new StreamError($why, $error->getCode());
        }
    }
}
