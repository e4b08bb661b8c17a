<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Closure;

/**
 * Reads and writes streams, and throws where PHP's functions only raise a notice: their results tell neither an error
 * of reading from the end of the file, nor why a write was short.
 */
final class Streams
{
    /**
     * Writes all bytes.
     *
     * @param resource $stream
     *
     * @throws StreamError
     */
    public static function write($stream, string $bytes): void
    {
        for ($written = 0; $written < strlen($bytes);) {
            $now = self::attempt(static fn (): int|false => fwrite($stream, substr($bytes, $written)), $written);
            $written += (int) $now;
            if ($now === 0) {
                // It does not block, and its reader is slow.
                self::wait([], [$stream]);
            }
        }
    }

    /**
     * Reads the lines to the end, with their line ends.
     *
     * @param resource $stream
     *
     * @return iterable<int, string> by their numbers
     *
     * @throws StreamError
     */
    public static function lines($stream): iterable
    {
        for ($number = 1; ; $number++) {
            $line = '';
            do {
                $part = self::attempt(static fn (): string|false => fgets($stream));
                $line .= (string) $part;
                $isWhole = str_ends_with($line, "\n") || feof($stream);
                // The stream does not block, or a signal has come.
                $isWhole || self::wait([$stream], []);
            } while (!$isWhole);
            if ($line === '') {
                return;
            }
            yield $number => $line;
        }
    }

    /**
     * Reads all that is left.
     *
     * @param resource $stream
     *
     * @throws StreamError
     */
    public static function contents($stream): string
    {
        $contents = '';
        foreach (self::lines($stream) as $line) {
            $contents .= $line;
        }

        return $contents;
    }

    /**
     * Opens a file.
     *
     * @return resource
     *
     * @throws StreamError
     */
    public static function open(string $path, string $mode = 'r')
    {
        $stream = self::attempt(static fn () => fopen($path, $mode));

        return $stream === false ? throw new StreamError('it cannot be opened', 0) : $stream;
    }

    /** Not by error_get_last(): the handler of errors that an application sets would keep it from there. */
    private static function attempt(Closure $call, int $written = 0): mixed
    {
        $why = null;
        set_error_handler(static function (int $level, string $message) use (&$why): bool {
            $why = $message;

            return true;
        });
        try {
            $result = $call();
        } finally {
            restore_error_handler();
        }
        if ($why === null) {
            return $result;
        }
        $code = preg_match('/errno=(\d+) (.+)$/D', $why, $found) === 1 ? (int) $found[1] : 0;
        // "fopen(file): Failed to open stream: Permission denied"
        $message = $found[2] ?? (string) preg_replace('/^.*: /', '', $why);
        throw new StreamError($message, $code, $written + (is_int($result) ? $result : 0));
    }

    /**
     * @param list<resource> $read
     * @param list<resource> $write
     */
    private static function wait(array $read, array $write): void
    {
        $none = [];
        @stream_select($read, $write, $none, 1);
    }
}
