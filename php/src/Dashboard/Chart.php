<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

/** Pictures of numbers, drawn here: SVG with a text for those who do not see it. */
final class Chart
{
    private const WIDTH = 600;
    private const HEIGHT = 90;

    /**
     * Columns side by side.
     *
     * @param list<int> $values
     * @param list<string> $labels of each column, for its tooltip
     * @param list<string> $axis texts below, each under as many columns as the others
     */
    public static function columns(string $title, array $values, array $labels, array $axis): Html
    {
        $highest = max(1, ...$values);
        $step = self::WIDTH / max(1, count($values));
        $columns = [];
        foreach ($values as $number => $value) {
            // A column that is there can be seen, however high the others are.
            $height = $value === 0 ? 0 : max(2, round(self::HEIGHT * $value / $highest, 1));
            $text = "{$labels[$number]}: " . Words::number($value);
            $columns[] = Html::g(
                Html::title($text),
                Html::rect(x: self::at($number * $step), y: '0', width: self::at($step), height: (string) self::HEIGHT, class: 'behind'),
                Html::rect(x: self::at($number * $step + 1), y: self::at(self::HEIGHT - $height), width: self::at(max(1, $step - 2)), height: self::at($height)),
            );
        }
        $sum = Words::number((int) array_sum($values));

        return Html::figure(
            Html::figcaption("$title: ", Html::b($sum), Html::span(' at most ' . Words::number(max(0, ...$values)) . ' in a column', class: 'quiet')),
            Html::svg($columns, viewBox: '0 0 ' . self::WIDTH . ' ' . self::HEIGHT, role: 'img', aria_label: "$title: $sum", preserveAspectRatio: 'none'),
            Html::div(array_map(static fn (string $text): Html => Html::span($text), $axis), class: 'axis', aria_hidden: 'true'),
        );
    }

    /**
     * Two numbers over time in a cell of a table: columns that stand on each other, the second one on top.
     *
     * @param list<int> $values
     * @param list<int> $bad as many
     */
    public static function small(string $title, array $values, array $bad): Html
    {
        [$width, $height] = [60, 16];
        $highest = max(1, ...array_map(static fn (int $value, int $more): int => $value + $more, $values, $bad));
        $step = $width / count($values);
        $columns = [];
        foreach ($values as $number => $value) {
            $from = $height;
            foreach (['' => $value, 'bad' => $bad[$number]] as $class => $part) {
                $part = $part === 0 ? 0 : max(1, $height * $part / $highest);
                $from = max(0, $from - $part);
                $part === 0 || $columns[] = Html::rect(x: self::at($number * $step), y: self::at($from), width: self::at($step - 1), height: self::at($part), class: $class ?: null);
            }
        }

        return Html::svg(Html::title($title), $columns, viewBox: "0 0 $width $height", role: 'img', aria_label: $title, class: 'small', preserveAspectRatio: 'none');
    }

    private static function at(float $place): string
    {
        return rtrim(rtrim(sprintf('%.1F', $place), '0'), '.');
    }
}
