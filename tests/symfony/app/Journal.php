<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

/** The deeds of handlers, line by line: the deed, the message, the process, the time. */
final class Journal
{
    public function __construct(private readonly string $file)
    {
    }

    public function write(string $deed, string $name): void
    {
        file_put_contents($this->file, sprintf("%s %s %d %.6F\n", $deed, $name, getmypid(), microtime(true)), FILE_APPEND | LOCK_EX);
    }

    /** @return list<array{string, string, int, float}> */
    public function read(): array
    {
        return array_map(static function (string $line): array {
            [$deed, $name, $pid, $at] = explode(' ', $line);

            return [$deed, $name, (int) $pid, (float) $at];
        }, is_file($this->file) ? file($this->file, FILE_IGNORE_NEW_LINES) : []);
    }

    /** Lets a message end whose handler waits. */
    public function letGo(string $name): void
    {
        touch("$this->file.go.$name");
    }

    public function mayGo(string $name): bool
    {
        clearstatcache();

        return is_file("$this->file.go.$name");
    }
}
