<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Contracts\Queue\ShouldBeUnique;
use Illuminate\Queue\SerializesModels;

/** A job about a model, one at a time for each; it vanishes with the model. */
class CustomerDeed extends Deed implements ShouldBeUnique
{
    use SerializesModels;

    public $deleteWhenMissingModels = true;

    public function __construct(public Customer $customer)
    {
        parent::__construct("customer $customer->id");
    }

    public function uniqueId(): string
    {
        return (string) $this->customer->id;
    }
}
