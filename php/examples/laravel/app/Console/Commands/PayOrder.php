<?php

declare(strict_types=1);

namespace App\Console\Commands;

use App\Models\Order;
use DelayQueue\Laravel\Facades\DelayQueue;
use Illuminate\Console\Command;

final class PayOrder extends Command
{
    protected $signature = 'order:pay {id}';

    protected $description = 'Pay an order that is still open';

    public function handle(): int
    {
        $id = (int) $this->argument('id');
        if (Order::whereKey($id)->where('state', 'open')->update(['state' => 'paid']) === 0) {
            $this->error("order $id is not open");

            return self::FAILURE;
        }
        DelayQueue::cancel("order-$id");

        return self::SUCCESS;
    }
}
