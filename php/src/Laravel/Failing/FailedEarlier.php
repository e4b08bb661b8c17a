<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Failing;

use RuntimeException;

/** The failure of an earlier run, as far as its job has kept it. As a string it is that exception, trace included. */
final class FailedEarlier extends RuntimeException
{
    public function __construct(private readonly string $text)
    {
        parent::__construct((string) strtok($text, "\n"));
    }

    public function __toString(): string
    {
        return $this->text;
    }
}
