<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DelayQueue\Database\Relay;

/** A relay's --once. */
final class Drain
{
    /** So many looks in a row may bring nothing to Redis and fail. Each leaves out what has failed in the one before. */
    private const VAIN_LOOKS = 5;

    /**
     * Until a batch is not full, for others may insert all the time. After a failure it looks again, for rows behind those that have failed.
     *
     * @param callable(): int $failures how many have been reported
     * @param callable(): bool $stop
     *
     * @return int rows that Redis has now and the table no more
     */
    public static function of(Relay $relay, int $batch, callable $failures, callable $stop): int
    {
        $sum = 0;
        for ($vain = 0; $vain < self::VAIN_LOOKS && !$stop();) {
            $before = $failures();
            $sum += $moved = $relay->runOnce();
            if ($moved < $batch && $failures() === $before) {
                break;
            }
            $vain = $moved === 0 ? $vain + 1 : 0;
        }

        return $sum;
    }
}
