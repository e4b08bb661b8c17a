<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateTimeImmutable;

/**
 * The moments to run now.
 *
 * @internal
 */
final class Missed
{
    private const MOST = 1000;

    /**
     * Those from the planned one until now that are not too old.
     *
     * @return list<DateTimeImmutable>
     */
    public static function moments(Definition $definition, Recurrence $when, DateTimeImmutable $planned, DateTimeImmutable $now): array
    {
        $end = $definition->until === null ? $now : min($now, $definition->until);
        if ($planned > $end) {
            return [];
        }
        // Of several at once, all but one would be left out or cancelled.
        if ($definition->catchUp === CatchUp::All && $definition->overlap === Overlap::Allow) {
            $moments = [];
            for ($moment = $planned; $moment !== null && $moment <= $end && count($moments) < self::MOST; $moment = $when->next($moment)) {
                $moments[] = $moment;
            }

            return $moments;
        }
        $next = $when->next($planned);
        $latest = $next === null || $next > $end ? $planned : $when->last($end) ?? $planned;
        $age = (float) $now->format('U.u') - (float) $latest->format('U.u');

        return $definition->catchUp === CatchUp::All || $age <= max($definition->catchUp, Definition::ON_TIME) ? [$latest] : [];
    }
}
