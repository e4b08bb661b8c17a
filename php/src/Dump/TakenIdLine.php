<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

/**
 * An id that is taken until some moment as one line of a dump.
 *
 * @internal
 */
final class TakenIdLine extends Line
{
    private readonly string $id;

    /** Unix seconds. */
    private readonly float $until;

    protected function __construct(Fields $fields)
    {
        parent::__construct($fields);
        $this->id = $fields->text('takenId');
        $this->until = $fields->number('until');
    }

    public static function write(string $queue, string $id, float $until, string $dump): string
    {
        return Fields::line(['queue' => $queue, 'takenId' => $id], ['until' => $until, 'dump' => $dump]);
    }

    public function item(callable $now): ?array
    {
        $seconds = $this->until - $now();
        if ($seconds <= 0) {
            return null;
        }

        return ['receipt' => $this->loadReceipt('taken', $this->id), 'id' => $this->id, 'unique' => $seconds];
    }
}
