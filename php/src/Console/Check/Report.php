<?php

declare(strict_types=1);

namespace DelayQueue\Console\Check;

/** The result of one look at the queues. */
final class Report
{
    /** How many findings the line names. */
    private const NAMED = 5;

    public readonly Level $level;

    /**
     * @param list<Finding> $findings
     * @param list<string> $paused names of paused queues
     * @param string|null $failure Redis does not answer, or refuses: why. Then nothing is known of the queues
     */
    private function __construct(
        public readonly int $queues,
        public readonly array $findings,
        public readonly array $paused,
        public readonly ?string $failure = null,
        ?Level $level = null,
    ) {
        $this->level = $level ?? Level::worst(...array_column($findings, 'level'));
    }

    /**
     * @param list<Finding> $findings
     * @param list<string> $paused
     */
    public static function of(int $queues, array $findings, array $paused): self
    {
        return new self($queues, $findings, $paused);
    }

    public static function failed(Level $level, string $why): self
    {
        return new self(0, [], [], $why, $level);
    }

    /** @return list<Finding> beyond a limit, the worst first */
    public function passed(): array
    {
        $passed = array_filter($this->findings, static fn (Finding $finding): bool => $finding->level !== Level::Ok);
        usort($passed, static fn (Finding $one, Finding $other): int => $other->level->weight() <=> $one->level->weight());

        return $passed;
    }

    /** One line for people, Nagios among them. */
    public function line(): string
    {
        $passed = $this->passed();
        $words = match (true) {
            $this->failure !== null => $this->failure,
            $passed !== [] => implode('; ', array_map(static fn (Finding $finding): string => $finding->words(), array_slice($passed, 0, self::NAMED))),
            $this->queues === 0 => 'there are no queues',
            default => implode(', ', [$this->queues === 1 ? '1 queue' : "$this->queues queues", ...$this->worst()]),
        };
        $more = count($passed) > self::NAMED ? '; and ' . (count($passed) - self::NAMED) . ' more' : '';
        $paused = implode(', ', array_slice($this->paused, 0, self::NAMED)) . (count($this->paused) > self::NAMED ? ' …' : '');

        return strtoupper($this->level->value) . ": $words$more" . ($paused === '' ? '' : "; paused: $paused");
    }

    /** @return array<string, mixed> for JSON */
    public function toArray(): array
    {
        return [
            'level' => $this->level->value,
            'message' => $this->line(),
            'queues' => $this->queues,
            'paused' => $this->paused,
            'findings' => array_map(static fn (Finding $finding): array => $finding->toArray(), $this->findings),
        ];
    }

    /** @return list<string> of each number the worst one, with its queue where there are several */
    private function worst(): array
    {
        $worst = [];
        foreach ($this->findings as $finding) {
            $other = $worst[$finding->measure->value] ?? null;
            if ($other === null || $finding->measure->isWorse((float) $finding->value, (float) $other->value)) {
                $worst[$finding->measure->value] = $finding;
            }
        }

        return array_values(array_map(
            fn (Finding $finding): string => $finding->measure->words((float) $finding->value) . ($this->queues === 1 ? '' : " ($finding->queue)"),
            $worst,
        ));
    }
}
