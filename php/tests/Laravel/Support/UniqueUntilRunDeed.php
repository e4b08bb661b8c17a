<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Contracts\Queue\ShouldBeUniqueUntilProcessing;

final class UniqueUntilRunDeed extends Deed implements ShouldBeUniqueUntilProcessing
{
    public function uniqueId(): string
    {
        return $this->name;
    }
}
