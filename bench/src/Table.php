<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** The measurements of one case: rows, columns of metrics, and a value for each run. */
final class Table
{
    /** @var array<string, array<string, array<int, float>>> row, metric, run */
    private array $values = [];

    /** @var array<string, string> row: why a run of it failed */
    private array $failures = [];

    /** @param non-empty-array<string, string> $columns metric: heading. The first one is shown with its spread. */
    public function __construct(
        public readonly string $name,
        private readonly string $title,
        private readonly array $columns,
        private readonly string $note = '',
    ) {
    }

    public function addRow(string $row): void
    {
        $this->values[$row] ??= [];
    }

    /** @param array<string, mixed> $metrics of one run; anything that is no number or no column of this table is left out */
    public function add(string $row, int $run, array $metrics): void
    {
        $this->addRow($row);
        foreach (array_intersect_key($metrics, $this->columns) as $metric => $value) {
            if (is_int($value) || is_float($value)) {
                $this->values[$row][$metric][$run] = (float) $value;
            }
        }
    }

    public function fail(string $row, string $why): void
    {
        $this->addRow($row);
        $this->failures[$row] = $why;
    }

    /** @return list<string> */
    public function rows(): array
    {
        return array_keys($this->values);
    }

    /** @return list<float> a value of each run */
    public function values(string $row, string $metric): array
    {
        return array_values($this->values[$row][$metric] ?? []);
    }

    /** @return list<float> the row divided by another row, run by run */
    public function ratios(string $row, string $base, string $metric): array
    {
        $ratios = [];
        foreach ($this->values[$row][$metric] ?? [] as $run => $value) {
            $of = $this->values[$base][$metric][$run] ?? 0.0;
            if ($of > 0.0) {
                $ratios[] = $value / $of;
            }
        }

        return $ratios;
    }

    public function toMarkdown(): string
    {
        $lead = array_key_first($this->columns);
        $others = array_slice($this->columns, 1);
        $lines = [self::line(['', $this->columns[$lead], 'min..max', ...array_values($others)])];
        $lines[] = self::line(['---', ...array_fill(0, count($others) + 2, '--:')]);
        foreach (array_keys($this->values) as $row) {
            $leading = $this->values($row, $lead);
            $spread = $leading === [] ? '' : Numbers::show(min($leading)) . '..' . Numbers::show(max($leading));
            $cells = [isset($this->failures[$row]) ? "$row (failed)" : $row, $this->median($row, $lead), $spread];
            foreach (array_keys($others) as $metric) {
                $cells[] = $this->median($row, $metric);
            }
            $lines[] = self::line($cells);
        }
        $text = "## $this->title\n\n" . ($this->note === '' ? '' : "$this->note\n\n") . implode("\n", $lines) . "\n";
        foreach ($this->failures as $row => $why) {
            $text .= "\n$row failed: " . strtok($why, "\n") . "\n";
        }

        return $text;
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return [
            'title' => $this->title,
            'columns' => $this->columns,
            'rows' => (object) array_map(static fn (array $row) => array_map(array_values(...), $row), $this->values),
            'failures' => (object) $this->failures,
        ];
    }

    private function median(string $row, string $metric): string
    {
        $values = $this->values($row, $metric);

        return Numbers::show($values === [] ? null : Numbers::median($values));
    }

    /** @param list<string> $cells */
    private static function line(array $cells): string
    {
        return '| ' . implode(' | ', $cells) . ' |';
    }
}
