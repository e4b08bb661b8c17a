<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

/** What a change has done, and the page that shows it. */
final class Done
{
    public function __construct(public readonly string $words, public readonly string $address)
    {
    }
}
