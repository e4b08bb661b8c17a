<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/** Waiting for what can be seen, never for a time. */
final class Wait
{
    /** A limit only says when a test hangs: shorter ones are for machines that do nothing else. */
    private const LEAST_SECONDS = 60.0;

    /** What a machine that is busy may add to what is promised. */
    private const ALLOWANCE = 4.0;

    /**
     * @template T
     *
     * @param callable(): T $condition asked again and again until it gives something truthy
     * @param float $seconds at least a minute, not counting those in which the machine stood still
     *
     * @return T
     *
     * @throws RuntimeException when it has not by then
     */
    public static function until(callable $condition, float $seconds, string $what): mixed
    {
        $seconds = max($seconds, self::LEAST_SECONDS);
        for ($started = microtime(true), $pause = 1_000; ; $pause = min(20_000, (int) ($pause * 1.3))) {
            $result = $condition();
            if ($result) {
                return $result;
            }
            if (microtime(true) - $started > $seconds && Machine::lasted($started) > $seconds) {
                throw new RuntimeException("not within $seconds s: $what");
            }
            usleep($pause);
        }
    }

    /**
     * Waits as until() does, for what is promised to come in so many seconds.
     *
     * @template T
     *
     * @param callable(): T $condition
     * @param float|null $since a moment of microtime(true); null: now
     *
     * @return T
     *
     * @throws RuntimeException when it came later, not counting seconds in which the machine stood still
     */
    public static function promised(callable $condition, float $seconds, string $what, ?float $since = null): mixed
    {
        $since ??= microtime(true);
        $result = self::until($condition, $seconds, $what);
        $lasted = Machine::lasted($since);

        return $lasted <= $seconds + self::ALLOWANCE ? $result : throw new RuntimeException("in $lasted s, not in $seconds s: $what");
    }
}
