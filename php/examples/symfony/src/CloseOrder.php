<?php

declare(strict_types=1);

namespace DelayQueue\Examples\Symfony;

/** Close this order, unless it has been paid. */
final class CloseOrder
{
    public function __construct(public readonly string $order)
    {
    }
}
