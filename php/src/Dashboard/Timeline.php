<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DateTimeImmutable;
use DelayQueue\Internal\Moment;
use DelayQueue\QueueInterface;

/** How many jobs fall due when: a minute, an hour, a day, a month from now on, in columns. */
final class Timeline
{
    /** Columns, the seconds of each, the columns between two labels, and how a label is written. */
    private const RANGES = [
        'minute' => [60, 1, 10, 'H:i:s'],
        'hour' => [60, 60, 10, 'H:i'],
        'day' => [48, 1800, 8, 'D H:i'],
        'month' => [30, 86400, 5, 'j M'],
    ];

    public static function draw(QueueInterface $queue, string $range, Site $site, string $address): Html
    {
        [$columns, $seconds, $between, $format] = self::RANGES[$range] ?? self::RANGES[$range = 'hour'];
        // Whole minutes, hours and days, so that the picture moves once a column and not with every look.
        $begin = floor($queue->now() / $seconds) * $seconds;
        $moments = array_map(static fn (int $column): DateTimeImmutable => Moment::of($begin + $column * $seconds), range(0, $columns));
        $counts = $queue->countDue(...$moments);
        $values = array_map(static fn (int $until, int $since): int => max(0, $until - $since), array_slice($counts, 1), array_slice($counts, 0, -1));
        $labels = array_map(static fn (DateTimeImmutable $moment): string => $moment->format('Y-m-d H:i:s \U\T\C'), array_slice($moments, 0, -1));
        $axis = array_map(static fn (int $column): string => $moments[$column]->format($format), range(0, $columns - 1, $between));
        $link = static fn (string $name): Html => Html::li(Html::a($name, href: "$address&range=$name#timeline", aria_current: $name === $range ? 'true' : null));

        return Parts::live(
            'timeline',
            Html::h2('Falls due'),
            Html::ul(array_map($link, array_keys(self::RANGES)), class: 'tabs', aria_label: 'Range'),
            Chart::columns("Jobs of the next $range, by the time they are due", $values, $labels, $axis),
        );
    }
}
