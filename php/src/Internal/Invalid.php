<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DelayQueue\InvalidArgument;
use Throwable;

/**
 * Errors of arguments in PHP's words, with the parts that the extension's own have.
 *
 * @internal
 */
final class Invalid
{
    /** @param string $what the beginning of the message, such as 'Batch::wait(): Argument #1 ($timeout)' */
    public static function argument(string $what, string $reason, ?Throwable $cause = null): InvalidArgument
    {
        $error = new InvalidArgument("$what $reason", 0, $cause);
        $error->reason = $reason;
        $error->parameter = preg_match('/ \(\$(\w+)\)/', $what, $found) === 1 ? $found[1] : '';

        return $error;
    }

    /** Of an array. */
    public static function key(string $what, string $key, string $reason, ?Throwable $cause = null): InvalidArgument
    {
        $error = self::argument("$what: \"$key\"", $reason, $cause);
        $error->key = $key;

        return $error;
    }
}
