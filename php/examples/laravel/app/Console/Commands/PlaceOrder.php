<?php

declare(strict_types=1);

namespace App\Console\Commands;

use App\Jobs\CloseOrder;
use App\Models\Order;
use Illuminate\Console\Command;
use Illuminate\Support\Facades\DB;

final class PlaceOrder extends Command
{
    protected $signature = 'order:place {product}';

    protected $description = 'Place an order, which is closed unless it is paid in time';

    public function handle(): int
    {
        $order = DB::transaction(function (): Order {
            $order = Order::create(['product' => $this->argument('product'), 'state' => 'open']);
            // A row of this transaction (outbox in config/queue.php): no order is without its job, no job without its order.
            CloseOrder::dispatch($order)->delay(now()->addSeconds(config('shop.pay_within')))->identifiedBy("order-$order->id");

            return $order;
        });
        $this->line((string) $order->id);

        return self::SUCCESS;
    }
}
