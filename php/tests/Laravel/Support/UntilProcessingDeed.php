<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Contracts\Queue\ShouldBeUniqueUntilProcessing;

/** Unique while it waits for its first run. */
final class UntilProcessingDeed extends Deed implements ShouldBeUniqueUntilProcessing
{
    public function uniqueId(): string
    {
        return $this->name;
    }
}
