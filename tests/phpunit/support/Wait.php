<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/** Waiting for what can be seen, never for a time. */
final class Wait
{
    /**
     * @template T
     *
     * @param callable(): T $condition asked again and again until it gives something truthy
     *
     * @return T
     *
     * @throws RuntimeException when it has not by then
     */
    public static function until(callable $condition, float $seconds, string $what): mixed
    {
        for ($deadline = microtime(true) + $seconds; ;) {
            $result = $condition();
            if ($result) {
                return $result;
            }
            if (microtime(true) > $deadline) {
                throw new RuntimeException("not within $seconds s: $what");
            }
            usleep(2_000);
        }
    }
}
