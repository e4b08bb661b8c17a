<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

/** The command that starts this process once more: the same PHP, ini settings, script and arguments. */
final class Relaunch
{
    /**
     * Has the kernel send SIGTERM to a worker whose parent is gone. Part of util-linux; elsewhere the worker notices by
     * itself, somewhat later.
     */
    private const LEASH = ['setpriv', '--pdeathsig', 'TERM', '--'];

    /** @return list<string> */
    public static function command(): array
    {
        return [...self::leash(), PHP_BINARY, ...self::settings(), ...$_SERVER['argv']];
    }

    /**
     * PHP does not tell which -d, -c and -n it was given; the kernel does.
     *
     * @return list<string>
     */
    public static function settings(): array
    {
        $all = explode("\0", substr((string) @file_get_contents('/proc/self/cmdline'), 0, -1));

        return array_slice($all, 1, max(0, count($all) - 1 - count($_SERVER['argv'])));
    }

    /** @return list<string> */
    private static function leash(): array
    {
        exec(implode(' ', self::LEASH) . ' true 2>/dev/null', $output, $status);

        return $status === 0 ? self::LEASH : [];
    }
}
