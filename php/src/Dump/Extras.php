<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

/**
 * The extras of a job: flags 1 · length of the traits 2 · (kind 1 · length 1 · value)* · JSON.
 *
 * @internal
 */
final class Extras
{
    private const GROUP = 'G';

    private const EMPTY = "\0\0\0{}";

    /** The group of a job is a field of its line. Twice in a line, it could differ. */
    public static function withoutGroup(?string $extras): ?string
    {
        if ($extras === null) {
            return null;
        }
        $traits = '';
        $end = 3 + unpack('n', $extras, 1)[1];
        for ($at = 3; $at < $end; $at += $size) {
            $size = 2 + ord($extras[$at + 1]);
            $traits .= $extras[$at] === self::GROUP ? '' : substr($extras, $at, $size);
        }
        $others = $extras[0] . pack('n', strlen($traits)) . $traits . substr($extras, $end);

        return $others === self::EMPTY ? null : $others;
    }
}
