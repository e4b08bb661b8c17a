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
    public const MOST = 1000;

    /**
     * @param list<DateTimeImmutable> $moments to run
     * @param DateTimeImmutable $first of those that are due, whether they run or not
     * @param DateTimeImmutable $last
     */
    private function __construct(
        public readonly array $moments,
        private readonly DateTimeImmutable $first,
        private readonly DateTimeImmutable $last,
    ) {
    }

    /**
     * Finds those that are owed, and those from the planned one until now, and leaves out what is too old.
     *
     * @param Recurrence $when the clock of the definition
     */
    public static function of(
        Definition $definition,
        State $state,
        Recurrence $when,
        DateTimeImmutable $planned,
        DateTimeImmutable $now,
    ): self {
        $end = $definition->until === null ? $now : min($now, $definition->until);
        $owed = $state->owedMoments();
        $first = $owed[0] ?? $planned;
        $due = [...$owed, ...self::due($when, $planned, $end, $definition->runsEach())];
        if ($due === []) {
            return new self([], $first, $first);
        }
        $last = end($due);
        if ($definition->runsEach()) {
            return new self(array_slice($due, 0, self::MOST), $first, $last);
        }
        $age = (float) $now->format('U.u') - (float) $last->format('U.u');
        $isTaken = $definition->catchUp === CatchUp::All || ($state->isTried === true && $last == $first);
        $runs = $isTaken || $age <= max($definition->catchUp, Definition::ON_TIME);

        return new self($runs ? [$last] : [], $first, $last);
    }

    /**
     * The moments of a clock from the planned one until the end.
     *
     * @param bool $isEach false: only the latest one
     *
     * @return list<DateTimeImmutable>
     */
    public static function due(
        Recurrence $when,
        DateTimeImmutable $planned,
        DateTimeImmutable $end,
        bool $isEach,
    ): array {
        if ($planned > $end) {
            return [];
        }
        if (!$isEach) {
            $next = $when->next($planned);

            return [$next === null || $next > $end ? $planned : $when->last($end) ?? $planned];
        }
        $moments = [];
        for ($moment = $planned; $moment !== null && $moment <= $end; $moment = $when->next($moment)) {
            $moments[] = $moment;
            if (count($moments) === self::MOST) {
                break;
            }
        }

        return $moments;
    }

    /** Moments that a runner should have run, and that do not run. */
    public function leftOut(DateTimeImmutable $now): ?string
    {
        $text = static fn (DateTimeImmutable $moment): string => Occurrence::moment($moment);
        if ((float) $now->format('U.u') - (float) $this->first->format('U.u') <= Definition::ON_TIME) {
            return null;
        }

        [$moments, $first] = [$this->moments, $text($this->first)];

        return match (true) {
            $moments === [] => "from $first to {$text($this->last)}: no runner was there",
            $moments[0] > $this->first => "from $first until before {$text($moments[0])}: no runner was there",
            count($moments) === self::MOST => "after {$text(end($moments))}: more than " . self::MOST . ' were missed',
            default => null,
        };
    }
}
