<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\GroupLimits;

/** Limits as groups and limit print them. */
final class LimitsView
{
    /** As the options of limit, without the dashes. */
    public static function toText(GroupLimits $limits): string
    {
        $words = array_filter([
            $limits->ordered ? 'ordered' : '',
            $limits->concurrency === null || $limits->ordered ? '' : "concurrency $limits->concurrency",
            $limits->rate === null ? '' : "rate $limits->rate",
            $limits->burst === null ? '' : "burst $limits->burst",
            $limits->weight === 1 ? '' : "weight $limits->weight",
        ]);

        return $words === [] ? 'none' : implode(', ', $words);
    }
}
