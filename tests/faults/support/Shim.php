<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue\Tests\Support\Folder;
use RuntimeException;

/** A small C library that is loaded into a process before all others, and a number that both share. */
final class Shim
{
    public readonly string $library;

    private readonly string $number;

    /** @param string $name a file of programs/, less .c */
    public function __construct(string $name, Folder $folder)
    {
        $this->library = "$folder->path/$name.so";
        $this->number = "$folder->path/$name.number";
        $source = dirname(__DIR__) . "/programs/$name.c";
        exec("cc -shared -fPIC -O2 -o $this->library $source -ldl 2>&1", $said, $status);
        if ($status !== 0) {
            throw new RuntimeException("cannot compile $source: " . implode("\n", $said));
        }
        $this->set(0);
    }

    public function set(int $number): void
    {
        // Into the same file, which is mapped.
        $file = fopen($this->number, 'c');
        fwrite($file, pack('q', $number));
        fclose($file);
    }

    /** @return list<string> a launcher */
    public function launcher(): array
    {
        return ['env', "LD_PRELOAD=$this->library", "DELAYQUEUE_TEST_NUMBER=$this->number"];
    }
}
