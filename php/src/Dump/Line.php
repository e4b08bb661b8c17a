<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use UnexpectedValueException;

/**
 * A line of a dump: a job, a receipt, an id that is taken for some time, or limits.
 *
 * @internal
 */
abstract class Line
{
    public readonly string $queue;

    /** Tells the dump from all others. */
    private readonly string $dump;

    protected function __construct(Fields $fields)
    {
        $this->queue = $fields->text('queue');
        $this->dump = $fields->textOrNull('dump') ?? '';
    }

    /** @throws UnexpectedValueException when this is not a line of a dump, or not one that can be loaded */
    final public static function read(Fields $fields): self
    {
        return match (true) {
            $fields->textOrNull('receipt') !== null => new ReceiptLine($fields),
            $fields->textOrNull('takenId') !== null => new TakenIdLine($fields),
            $fields->textOrNull('limitsOf') !== null => new LimitsLine($fields),
            default => new JobLine($fields),
        };
    }

    /**
     * @param callable(): float $now Unix seconds, by Redis' clock
     *
     * @return array<string, mixed>|null for pushOnce(); null: there is nothing to push, or not any more
     */
    abstract public function item(callable $now): ?array;

    /** The receipt of the line of this id in the dump. */
    final protected function loadReceipt(string $kind, string $id): string
    {
        return Load::RECEIPTS . "$this->dump/" . substr(hash('sha256', serialize([$kind, $this->queue, $id])), 0, 16);
    }
}
