<?php

declare(strict_types=1);

namespace App\Console;

use Illuminate\Foundation\Console\Kernel as BaseKernel;

final class Kernel extends BaseKernel
{
    protected $commands = [Commands\PlaceOrder::class, Commands\PayOrder::class, Commands\ListOrders::class];
}
