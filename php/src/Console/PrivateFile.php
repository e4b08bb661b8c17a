<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** A file with a secret: only its owner may have rights to it. */
final class PrivateFile
{
    /**
     * @param string $what it is, such as "keys file"
     *
     * @return iterable<int, string> the lines by their numbers
     *
     * @throws UsageException when it cannot be read, or others can read it
     */
    public static function lines(string $path, string $what): iterable
    {
        // PHP opens more than files.
        $stream = str_contains($path, '://') ? false : @fopen($path, 'r');
        if ($stream === false) {
            throw new UsageException("cannot read the $what $path");
        }
        if (((int) (fstat($stream)['mode'] ?? 0) & 0o077) !== 0) {
            throw new UsageException("other users have rights to the $what $path: chmod 600 it");
        }
        try {
            yield from Streams::lines($stream);
        } catch (StreamError $error) {
            throw new UsageException("cannot read the $what $path: {$error->getMessage()}", 0, $error);
        }
    }
}
