<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use Throwable;
use UnexpectedValueException;

/** A line of a dump cannot be loaded; the previous exception says why. */
final class LineException extends UnexpectedValueException
{
    /** @param array-key $key of the line */
    public function __construct(public readonly int|string $key, Throwable $why)
    {
        parent::__construct("line $key cannot be loaded: {$why->getMessage()}", 0, $why);
    }
}
