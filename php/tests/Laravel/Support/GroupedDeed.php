<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

/** A deed that names its group as Laravel 12 asks for it, in any version: by the property, else by the method. */
final class GroupedDeed extends Deed
{
    public $messageGroup;

    public function messageGroup(): int
    {
        return 42;
    }

    public function in(string $group): static
    {
        $this->messageGroup = $group;

        return $this;
    }
}
