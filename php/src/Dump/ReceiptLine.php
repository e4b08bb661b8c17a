<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

/**
 * A receipt of pushOnce() as one line of a dump.
 *
 * @internal
 */
final class ReceiptLine extends Line
{
    private readonly string $receipt;

    protected function __construct(Fields $fields)
    {
        parent::__construct($fields);
        $this->receipt = $fields->text('receipt');
    }

    public static function write(string $queue, string $receipt, string $dump): string
    {
        return Fields::line(['queue' => $queue, 'receipt' => $receipt], ['dump' => $dump]);
    }

    public function item(callable $now): array
    {
        return ['receipt' => $this->receipt];
    }
}
