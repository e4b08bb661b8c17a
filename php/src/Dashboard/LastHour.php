<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\Internal\Moment;
use DelayQueue\Stats;

/** The counts of a queue between the copies that its consumers make, one about every five minutes of the last hour. */
final class LastHour
{
    /** @param list<array<string, int|float>> $copies of Stats::history() */
    private function __construct(private readonly array $copies)
    {
    }

    /** Null: too little is known yet. */
    public static function of(Stats $stats): ?self
    {
        $copies = $stats->history();

        return count($copies) < 2 ? null : new self($copies);
    }

    /** @return list<int> how much a counter has grown from each copy to the next */
    public function counts(string $counter): array
    {
        return array_map(
            static fn (array $after, array $before): int => max(0, $after[$counter] - $before[$counter]),
            array_slice($this->copies, 1),
            array_slice($this->copies, 0, -1),
        );
    }

    /** @return list<string> from when to when, for each count */
    public function labels(): array
    {
        $label = static fn (array $since, array $until): string => self::clock($since) . ' to ' . self::clock($until);

        return array_map($label, array_slice($this->copies, 0, -1), array_slice($this->copies, 1));
    }

    /** @return list<string> two moments for the axis */
    public function axis(): array
    {
        return [self::clock($this->copies[0]), self::clock($this->copies[intdiv(count($this->copies), 2)])];
    }

    /** @param array<string, int|float> $copy */
    private static function clock(array $copy): string
    {
        return Moment::of($copy['at'])->format('H:i \\U\\T\\C');
    }
}
