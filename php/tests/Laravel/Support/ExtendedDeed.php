<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

/** A job that gives itself more time than its `$timeout`, as heartbeats of packages do. */
final class ExtendedDeed extends Deed
{
    public function handle(): void
    {
        pcntl_alarm(60);
        parent::handle();
    }
}
