<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Contracts\Queue\ShouldBeUnique;

final class UniqueDeed extends Deed implements ShouldBeUnique
{
    public $messageGroup;

    public function uniqueId(): string
    {
        return $this->name;
    }
}
