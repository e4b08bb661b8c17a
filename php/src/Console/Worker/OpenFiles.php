<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

/** The parent of a pool has an open file for each worker, and the usual limit is 1024. */
final class OpenFiles
{
    /** For PHP itself, standard streams, and logs. */
    private const OTHERS = 50;

    /** Raises the limit as far as the system lets this user. A worker that cannot be started is tried again, so that is no reason to end. */
    public static function allow(int $files): void
    {
        $limits = posix_getrlimit();
        [$soft, $hard] = [$limits['soft openfiles'] ?? 'unlimited', $limits['hard openfiles'] ?? 'unlimited'];
        $needed = $files + self::OTHERS;
        if (is_int($soft) && $soft < $needed) {
            posix_setrlimit(POSIX_RLIMIT_NOFILE, is_int($hard) ? min($needed, $hard) : $needed, is_int($hard) ? $hard : POSIX_RLIMIT_INFINITY);
        }
    }
}
