<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** The measurements of one case: rows of peers, columns of metrics, a value for each run. */
final class Table implements Section
{
    private const OURS = 'delayqueue';

    private const FLOOR = 'floor';

    /** @var array<string, array<string, list<float>>> row, metric, a value per run */
    private array $values = [];

    /** @var array<string, string> row, why it has none */
    private array $failures = [];

    /**
     * @param non-empty-array<string, string> $columns metric: heading. The first one gets spread and ratios.
     * @param string|null $compared the row that the others are compared with; null: no ratios
     */
    public function __construct(
        private readonly string $name,
        private readonly string $title,
        private readonly array $columns,
        private readonly string $note = '',
        private readonly ?string $compared = self::OURS,
    ) {
    }

    public function name(): string
    {
        return $this->name;
    }

    /** @param array<string, mixed> $metrics of one run; what is no number or no column of this table is left out */
    public function add(string $row, array $metrics): void
    {
        $this->values[$row] ??= [];
        foreach (array_intersect_key($metrics, $this->columns) as $metric => $value) {
            if (is_int($value) || is_float($value)) {
                $this->values[$row][$metric][] = (float) $value;
            }
        }
    }

    public function fail(string $row, string $why): void
    {
        $this->values[$row] ??= [];
        $this->failures[$row] = $why;
    }

    public function median(string $row, string $metric): ?float
    {
        $values = $this->values[$row][$metric] ?? [];

        return $values === [] ? null : Numbers::median($values);
    }

    public function least(string $row, string $metric): ?float
    {
        $values = $this->values[$row][$metric] ?? [];

        return $values === [] ? null : min($values);
    }

    public function toMarkdown(): string
    {
        $ratios = $this->ratioColumns();
        $lead = array_key_first($this->columns);
        $headings = ['', $this->columns[$lead], 'min..max', ...array_values($ratios), ...array_values(array_slice($this->columns, 1))];
        $lines = [self::line($headings), self::line(['---', ...array_fill(1, count($headings) - 1, '--:')])];
        foreach ($this->values as $row => $metrics) {
            $cells = [isset($this->failures[$row]) ? "$row (failed)" : $row];
            $cells[] = Numbers::show($this->median($row, $lead));
            $cells[] = isset($metrics[$lead]) ? Numbers::show(min($metrics[$lead])) . '..' . Numbers::show(max($metrics[$lead])) : '';
            foreach (array_keys($ratios) as $base) {
                $cells[] = $this->ratio($row, (string) $base, $lead);
            }
            foreach (array_slice(array_keys($this->columns), 1) as $metric) {
                $cells[] = Numbers::show($this->median($row, $metric));
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
        $rows = [];
        foreach ($this->values as $row => $metrics) {
            $rows[$row] = array_map(static fn (array $values) => [
                'median' => Numbers::median($values), 'min' => min($values), 'max' => max($values), 'values' => $values,
            ], $metrics);
        }

        return ['title' => $this->title, 'columns' => $this->columns, 'rows' => (object) $rows, 'failures' => (object) $this->failures];
    }

    /** @return array<string, string> row to compare with: heading */
    private function ratioColumns(): array
    {
        $bases = $this->compared === null ? [] : [$this->compared => "of $this->compared", self::FLOOR => 'of the floor'];

        return count($this->values) > 1 ? array_intersect_key($bases, $this->values) : [];
    }

    private function ratio(string $row, string $base, string $metric): string
    {
        [$value, $of] = [$this->median($row, $metric), $this->median($base, $metric)];
        if ($value === null || !$of) {
            return '';
        }
        $ratio = $value / $of;

        return $ratio < 100 ? sprintf('%.2f', $ratio) : Numbers::show($ratio);
    }

    /** @param list<string> $cells */
    private static function line(array $cells): string
    {
        return '| ' . implode(' | ', $cells) . ' |';
    }
}
