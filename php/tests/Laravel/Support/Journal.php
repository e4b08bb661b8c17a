<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

/** A file into which jobs of all processes write what they do. */
final class Journal
{
    public static function write(string $line): void
    {
        file_put_contents((string) getenv('TEST_JOURNAL'), "$line\n", FILE_APPEND | LOCK_EX);
    }

    /** @return list<string> */
    public static function lines(): array
    {
        return array_values(array_filter(explode("\n", (string) @file_get_contents((string) getenv('TEST_JOURNAL')))));
    }

    public static function clear(): void
    {
        file_put_contents((string) getenv('TEST_JOURNAL'), '');
    }
}
