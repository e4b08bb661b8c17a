<?php

declare(strict_types=1);

namespace App\Console\Commands;

use App\Models\Order;
use Illuminate\Console\Command;

final class ListOrders extends Command
{
    protected $signature = 'order:list';

    protected $description = 'List the orders with their states';

    public function handle(): int
    {
        foreach (Order::orderBy('id')->get() as $order) {
            $this->line("$order->id $order->product $order->state");
        }

        return self::SUCCESS;
    }
}
