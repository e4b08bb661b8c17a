<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

/**
 * Whether all lines of the dumps in an input are there. It may be several dumps, or parts of them, in any order of
 * lines.
 *
 * @internal
 */
final class Wholeness
{
    private bool $isEmpty = true;

    /** @var array<array-key, int> numbers of lines that were read, by the names of the dumps */
    private array $read = [];

    /** @var array<array-key, int> numbers of lines by the last lines of the dumps */
    private array $told = [];

    /** The last line of a dump, without the line's end. */
    public static function end(string $dump, int $lines): string
    {
        return Fields::line([], ['end' => true, 'lines' => $lines, 'dump' => $dump]);
    }

    /** @return bool whether it is the last line of a dump, and nothing to load */
    public function read(Fields $line): bool
    {
        $this->isEmpty = false;
        $dump = $line->textOrNull('dump');
        if ($line->flag('end')) {
            $this->told[$dump ?? ''] = $line->count('lines');

            return true;
        }
        // Without the name of a dump somebody else has written it.
        if ($dump !== null) {
            $this->read[$dump] = ($this->read[$dump] ?? 0) + 1;
        }

        return false;
    }

    /** @return list<string> what is missing; none: all is there */
    public function faults(): array
    {
        if ($this->isEmpty) {
            return ['it is empty: even a dump of no jobs has a last line'];
        }
        $faults = [];
        foreach ($this->read + $this->told as $dump => $ignored) {
            [$read, $told] = [$this->read[$dump] ?? 0, $this->told[$dump] ?? null];
            if ($told === null) {
                $faults[] = "the last line of dump $dump is missing: it was cut off, or this is a part of it";
            } elseif ($read < $told) {
                $faults[] = "dump $dump had $told lines, and $read of them are here";
            }
        }

        return $faults;
    }
}
