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
        if (str_contains($path, '://')) {
            throw new UsageException("cannot read the $what $path: it is a URL");
        }
        try {
            $stream = Streams::open($path);
            if (((int) (fstat($stream)['mode'] ?? 0) & 0o077) !== 0) {
                throw new UsageException("other users have rights to the $what $path: chmod 600 it");
            }
            yield from Streams::lines($stream);
        } catch (StreamError $error) {
            throw new UsageException("cannot read the $what $path: {$error->getMessage()}", 0, $error);
        }
    }
}
