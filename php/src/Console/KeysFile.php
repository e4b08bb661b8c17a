<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** The file of the keys that seal payloads: a line per key, "id base64", the one that seals first; empty lines, and those that begin with #, are comments. */
final class KeysFile
{
    /**
     * @return non-empty-array<array-key, string> keys by their ids, as DelayQueue takes them
     *
     * @throws UsageException when it cannot be read, others can read it, or a line is no key; without the bytes of a key
     */
    public static function read(string $path): array
    {
        $keys = [];
        foreach (PrivateFile::lines($path, 'keys file') as $number => $line) {
            $line = trim($line);
            if ($line === '' || $line[0] === '#') {
                continue;
            }
            if (preg_match('~^([A-Za-z0-9_.-]{1,64})\s+(?:base64:)?([A-Za-z0-9+/]{43}=)$~D', $line, $found) !== 1) {
                throw new UsageException("line $number of the keys file $path is not a key id, a blank, and 32 bytes in base64");
            }
            if (isset($keys[$found[1]])) {
                throw new UsageException("line $number of the keys file $path has key $found[1] again");
            }
            $keys[$found[1]] = "base64:$found[2]";
        }

        return $keys ?: throw new UsageException("there is no key in the keys file $path");
    }
}
