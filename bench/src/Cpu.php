<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** CPU time of processes, user and system together. */
final class Cpu
{
    /** Microseconds that all threads of a process have run; exact, where ps knows ticks of 10 ms. */
    public static function ofProcessUs(int $pid): float
    {
        $ns = 0;
        foreach (glob("/proc/$pid/task/*/schedstat") ?: [] as $file) {
            $ns += (int) @file_get_contents($file);
        }

        return $ns / 1000;
    }

    /** Microseconds of this process. */
    public static function ownUs(): float
    {
        $usage = getrusage();

        return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1e6 + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
    }
}
