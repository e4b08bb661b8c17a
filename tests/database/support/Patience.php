<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use DelayQueue\Database\Outbox;
use ReflectionProperty;

/** A busy machine is no Redis that is away: outboxes of this process wait longer for it than those of a shop. */
final class Patience
{
    public static function begin(): void
    {
        (new ReflectionProperty(Outbox::class, 'patience'))->setValue(null, 10.0);
    }
}
