<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

/** A job about a model that fails when the model is gone. */
final class CustomerDuty extends CustomerDeed
{
    public $deleteWhenMissingModels = false;
}
