<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

/** A deed whose release() does something of its own before, as that of an application may. */
final class HeldDeed extends Deed
{
    /** A middleware that cannot be serialized with the deed. */
    public static ?object $behind = null;

    /** @return list<object> */
    public function middleware(): array
    {
        return array_filter([self::$behind]);
    }

    public function release($delay = 0)
    {
        parent::release($delay);
    }
}
