<?php

declare(strict_types=1);

namespace DelayQueue\Console\Check;

/** One number of one queue beside its limits. */
final class Finding
{
    /**
     * @param float|null $value null: it cannot be read
     * @param float|null $limit the one that is passed
     */
    public function __construct(
        public readonly string $queue,
        public readonly Measure $measure,
        public readonly Level $level,
        public readonly ?float $value,
        public readonly ?float $limit,
    ) {
    }

    public function words(): string
    {
        if ($this->value === null) {
            return "$this->queue: the list of workers cannot be read";
        }

        return "$this->queue: {$this->measure->words($this->value)}" . ($this->limit === null ? '' : " ({$this->measure->limitWords($this->limit)})");
    }

    /** @return array<string, mixed> for JSON; times in seconds */
    public function toArray(): array
    {
        $number = fn (?float $value): int|float|null => $value === null ? null : $this->measure->number($value);

        return [
            'queue' => $this->queue, 'check' => $this->measure->value, 'level' => $this->level->value,
            'value' => $number($this->value), 'limit' => $number($this->limit),
        ];
    }
}
