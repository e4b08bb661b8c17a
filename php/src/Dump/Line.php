<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use UnexpectedValueException;

/**
 * A line of a dump: a job, a receipt, or an id that is taken for some time.
 *
 * @internal
 */
abstract class Line
{
    protected function __construct(public readonly string $queue)
    {
    }

    /** @throws UnexpectedValueException when this is not a line of a dump, or not one that can be loaded */
    final public static function read(string $line): self
    {
        $fields = Fields::of($line);

        return match (true) {
            $fields->textOrNull('receipt') !== null => new ReceiptLine($fields),
            $fields->textOrNull('takenId') !== null => new TakenIdLine($fields),
            default => new JobLine($fields),
        };
    }

    /**
     * @param callable(): float $now Unix seconds, by Redis' clock
     *
     * @return array<string, mixed>|null for pushOnce(); null: there is nothing to load any more
     */
    abstract public function item(callable $now): ?array;

    /** The receipt of a line that these facts tell from all others. */
    final protected static function receipt(string|int|float|null ...$facts): string
    {
        // To the microsecond, whatever the ini setting serialize_precision says.
        $exact = array_map(static fn (string|int|float|null $fact) => is_float($fact) ? sprintf('%.6F', $fact) : $fact, $facts);

        return Load::RECEIPTS . substr(hash('sha256', serialize($exact)), 0, 16);
    }
}
