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

    private static function at(float $place): string
    {
        return rtrim(rtrim(sprintf('%.1F', $place), '0'), '.');
    }
}
