<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use FilesystemIterator;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;
use RuntimeException;

/** A temporary folder. Its path is short: sockets live in it. */
final class Folder
{
    public readonly string $path;

    public function __construct()
    {
        $this->path = sys_get_temp_dir() . '/dqp-' . bin2hex(random_bytes(5));
        if (!mkdir($this->path, 0o700)) {
            throw new RuntimeException("cannot make $this->path");
        }
    }

    public function remove(): void
    {
        $entries = new RecursiveIteratorIterator(
            new RecursiveDirectoryIterator($this->path, FilesystemIterator::SKIP_DOTS),
            RecursiveIteratorIterator::CHILD_FIRST,
        );
        foreach ($entries as $entry) {
            $entry->isDir() && !$entry->isLink() ? @rmdir($entry->getPathname()) : @unlink($entry->getPathname());
        }
        @rmdir($this->path);
    }
}
