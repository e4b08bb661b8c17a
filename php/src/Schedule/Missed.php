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
     * Moments from the planned one until now that are not too old.
     *
     * @param bool $isTried a runner was there at the planned one, and could not push its job: it is not missed, however old it is
     *
     * @return list<DateTimeImmutable>
     */
    public static function moments(Definition $definition, Recurrence $when, DateTimeImmutable $planned, DateTimeImmutable $now, bool $isTried): array
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

        $isTaken = $definition->catchUp === CatchUp::All || ($isTried && $latest == $planned);

        return $isTaken || $age <= max($definition->catchUp, Definition::ON_TIME) ? [$latest] : [];
    }

    /**
     * Moments that a runner should have run, and that do not run.
     *
     * @param list<DateTimeImmutable> $moments that run
     */
    public static function leftOut(Recurrence $when, DateTimeImmutable $planned, DateTimeImmutable $now, array $moments): ?string
    {
        $text = static fn (DateTimeImmutable $moment): string => Occurrence::moment($moment);
        if ((float) $now->format('U.u') - (float) $planned->format('U.u') <= Definition::ON_TIME) {
            return null;
        }

        return match (true) {
            $moments === [] => "from {$text($planned)} to {$text($when->last($now) ?? $planned)}: no runner was there",
            $moments[0] > $planned => "from {$text($planned)} until before {$text($moments[0])}: no runner was there",
            count($moments) === self::MOST => "after {$text(end($moments))}: more than " . self::MOST . ' were missed',
            default => null,
        };
    }
}
