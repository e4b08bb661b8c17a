<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** The folder of a private Redis. Its data is for its user alone, whoever made the folder, and with whatever rights. */
final class DataFolder
{
    /** The names of files that serve and redis-server write there. */
    private const OWN_FILES = '/^(serve\.lock|redis\.pid|redis\.log|appendonlydir|.+\.(aof|rdb))$/D';

    private function __construct(public readonly string $path)
    {
    }

    /**
     * Makes it if it is missing. From now on this process, and what it becomes, makes files for its user only.
     *
     * @throws NothingDone when that cannot be
     */
    public static function open(string $path): self
    {
        umask(0o077);
        if (!is_dir($path) && !@mkdir($path, 0o700, true)) {
            throw new NothingDone("cannot make the folder $path");
        }

        return new self(realpath($path) ?: throw new NothingDone("cannot enter the folder $path"));
    }

    /**
     * Takes from other users what an earlier server let them read; files of anybody else's are left alone.
     *
     * @return bool whether there was something to take
     *
     * @throws NothingDone when it cannot, because they belong to another user
     */
    public function close(): bool
    {
        $files = preg_grep(self::OWN_FILES, @scandir($this->path) ?: []);
        if (is_dir("$this->path/appendonlydir")) {
            array_push($files, ...array_map(
                static fn (string $name): string => "appendonlydir/$name",
                array_diff(@scandir("$this->path/appendonlydir") ?: [], ['.', '..']),
            ));
        }
        $open = array_filter($files, fn (string $name): bool => ((int) @fileperms("$this->path/$name") & 0o077) !== 0);
        foreach ($open as $name) {
            if (!@chmod("$this->path/$name", fileperms("$this->path/$name") & 0o700)) {
                throw new NothingDone("other users can read $this->path/$name, and its rights are not yours to change");
            }
        }

        return $open !== [];
    }
}
