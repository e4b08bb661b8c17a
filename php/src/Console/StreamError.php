<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use RuntimeException;

/** A stream could not be read or written. The message is the system's, such as "No space left on device". */
final class StreamError extends RuntimeException
{
    /** EPIPE of errno.h, the same number on all systems. */
    private const BROKEN_PIPE = 32;

    /** @param int $written bytes that were written before the error */
    public function __construct(string $message, int $code, public readonly int $written = 0)
    {
        parent::__construct($message, $code);
    }

    /** Whether the reader of a pipe has ended, as in `delayqueue list | head`. */
    public function isBrokenPipe(): bool
    {
        return $this->getCode() === self::BROKEN_PIPE;
    }
}
