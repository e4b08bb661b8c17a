<?php

declare(strict_types=1);

namespace DelayQueue\Docs;

/** The share of jobs that are at most so late, a line per kind of worker, over a logarithmic axis. */
final class LatenessPicture
{
    private const COLOURS = ['delayqueue' => '#3d6fb6', 'every second' => '#b98116', 'every 3 seconds' => '#b04a4a'];

    private const TICKS = ['0.1' => '0.1 ms', '1' => '1 ms', '10' => '10 ms', '100' => '100 ms', '1000' => '1 s', '10000' => '10 s'];

    private const LEFT = 70;

    private const RIGHT = 770;

    private const TOP = 48;

    private const BOTTOM = 290;

    /** @param string $csv way,late_ms with a heading */
    public static function draw(string $csv): string
    {
        $late = [];
        foreach (array_slice(explode("\n", trim($csv)), 1) as $row) {
            [$way, $ms] = explode(',', $row);
            $late[$way][] = (float) $ms;
        }
        $svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 330" font-family="system-ui, sans-serif" font-size="14" fill="#22303c">' . "\n"
            . "<title>Lateness of a worker beside loops that look now and then</title>\n<rect width=\"800\" height=\"330\" rx=\"8\" fill=\"#fbfcfd\"/>\n"
            . "<text x=\"20\" y=\"28\" font-weight=\"600\">Share of the jobs that are at most so late</text>\n" . self::grid();
        $y = 0;
        foreach ($late as $way => $values) {
            sort($values);
            $svg .= self::line($values, self::COLOURS[$way]) . self::legend($way, $values, $y++);
        }

        return $svg . "</svg>\n";
    }

    private static function grid(): string
    {
        $svg = "<g stroke=\"#dde3e9\">\n";
        foreach (array_keys(self::TICKS) as $ms) {
            $svg .= sprintf("<path d=\"M%.1f %dV%d\"/>\n", self::x((float) $ms), self::TOP, self::BOTTOM);
        }
        foreach ([0, 0.5, 1] as $share) {
            $svg .= sprintf("<path d=\"M%d %.1fH%d\"/>\n", self::LEFT, self::y($share), self::RIGHT);
        }
        $svg .= "</g>\n<g fill=\"#51606e\" font-size=\"13\">\n";
        foreach (self::TICKS as $ms => $label) {
            $svg .= sprintf("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", self::x((float) $ms), self::BOTTOM + 20, $label);
        }
        foreach ([0, 0.5, 1] as $share) {
            $svg .= sprintf("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d %%</text>\n", self::LEFT - 8, self::y($share) + 5, $share * 100);
        }

        return $svg . "</g>\n";
    }

    /** @param list<float> $values sorted */
    private static function line(array $values, string $colour): string
    {
        $points = [];
        foreach ($values as $number => $ms) {
            $points[] = sprintf('%.1f,%.1f', self::x($ms), self::y(($number + 1) / count($values)));
        }

        return sprintf("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" points=\"%s\"/>\n", $colour, implode(' ', $points));
    }

    /** @param list<float> $values sorted */
    private static function legend(string $way, array $values, int $number): string
    {
        $y = 100 + 26 * $number;
        $median = $values[intdiv(count($values), 2)];

        return sprintf("<path d=\"M240 %dh22\" stroke=\"%s\" stroke-width=\"4\"/>\n", $y, self::COLOURS[$way])
            . sprintf("<text x=\"270\" y=\"%d\" font-size=\"13\">%s: half within %s</text>\n", $y + 5, $way, self::time($median));
    }

    private static function time(float $ms): string
    {
        return $ms >= 1000 ? sprintf('%.1f s', $ms / 1000) : ($ms >= 10 ? sprintf('%.0f ms', $ms) : sprintf('%.1f ms', $ms));
    }

    private static function x(float $ms): float
    {
        return self::LEFT + (log10(min(10000.0, max(0.1, $ms))) + 1) / 5 * (self::RIGHT - self::LEFT);
    }

    private static function y(float|int $share): float
    {
        return self::BOTTOM - $share * (self::BOTTOM - self::TOP);
    }
}
