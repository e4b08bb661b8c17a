<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use JsonSerializable;
use RuntimeException;

/** Cannot be encoded, and says so in its own way. */
final class ThrowingPayload implements JsonSerializable
{
    public function jsonSerialize(): never
    {
        throw new RuntimeException('not today');
    }
}
