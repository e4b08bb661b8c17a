<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

/** A handler that a router can make by itself. */
final class Counter
{
    public static int $made = 0;

    public static int $called = 0;

    public function __construct()
    {
        self::$made++;
        self::$called = 0;
    }

    public function __invoke(): void
    {
        self::$called++;
    }
}
