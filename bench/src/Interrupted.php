<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use Exception;

/** A signal ended the run. */
final class Interrupted extends Exception
{
    public function __construct(public readonly int $signal)
    {
        parent::__construct("ended by signal $signal");
    }
}
