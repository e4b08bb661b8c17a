<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Queue\Attributes\DebounceFor;

#[DebounceFor(1)]
final class DebouncedDeed extends Deed
{
    public function debounceId(): string
    {
        return 'search';
    }
}
