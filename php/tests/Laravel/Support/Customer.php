<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Database\Eloquent\Model;

/** A model that jobs are about. */
final class Customer extends Model
{
    public $timestamps = false;
}
