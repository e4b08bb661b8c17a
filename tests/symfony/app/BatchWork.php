<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

/** A message for the batch handler. */
final class BatchWork
{
    public function __construct(public string $name)
    {
    }
}
