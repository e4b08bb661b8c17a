<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue\Testing;
use Illuminate\Support\Carbon;

/** With delayqueue.testing=1 the queues of this process follow Carbon's test time, so that `$this->travel()` reaches them. */
final class TestTime
{
    private static bool $isTravelling = false;

    public static function follow(): void
    {
        if (Carbon::hasTestNow()) {
            if (filter_var(ini_get('delayqueue.testing'), FILTER_VALIDATE_BOOL)) {
                Testing::travelTo(Carbon::now());
                self::$isTravelling = true;
            }
        } elseif (self::$isTravelling) {
            self::$isTravelling = false;
            Testing::travelBack();
        }
    }
}
