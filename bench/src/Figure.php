<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** One number that the project wants of itself: the median of the runs, held against a limit. It judges; it fails nothing. */
final class Figure
{
    /** @param list<float> $values one of each run; none: not measured */
    private function __construct(
        private readonly string $name,
        private readonly array $values,
        private readonly string $sign,
        private readonly float $limit,
    ) {
    }

    /** @param list<float> $values */
    public static function atLeast(string $name, float $limit, array $values): self
    {
        return new self($name, $values, '≥', $limit);
    }

    /** @param list<float> $values */
    public static function atMost(string $name, float $limit, array $values): self
    {
        return new self($name, $values, '≤', $limit);
    }

    public function isMet(): ?bool
    {
        if ($this->values === []) {
            return null;
        }
        $measured = Numbers::median($this->values);

        return $this->sign === '≥' ? $measured >= $this->limit : $measured <= $this->limit;
    }

    /** @return array{figure: string, measured: string, wanted: string, met: string} */
    public function cells(): array
    {
        return [
            'figure' => $this->name,
            'measured' => $this->measured(),
            'wanted' => "$this->sign " . Numbers::show($this->limit),
            'met' => match ($this->isMet()) {
                null => '',
                true => 'yes',
                false => 'NO',
            },
        ];
    }

    private function measured(): string
    {
        if ($this->values === []) {
            return 'not measured';
        }
        $spread = count($this->values) > 1 ? ' (' . Numbers::show(min($this->values)) . '..' . Numbers::show(max($this->values)) . ')' : '';

        return Numbers::show(Numbers::median($this->values)) . $spread;
    }
}
