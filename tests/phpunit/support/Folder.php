<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use FilesystemIterator;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;
use RuntimeException;

/** A temporary folder. Its path is short, because sockets live in it, and the path of a socket has room for 107 bytes. */
final class Folder
{
    public readonly string $path;

    public function __construct()
    {
        $base = strlen(sys_get_temp_dir()) <= 40 ? sys_get_temp_dir() : '/tmp';
        $this->path = "$base/dqp-" . bin2hex(random_bytes(5));
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
