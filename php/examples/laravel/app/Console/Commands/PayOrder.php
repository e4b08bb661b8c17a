<?php

declare(strict_types=1);

namespace App\Console\Commands;

use App\Models\Order;
use DelayQueue\Laravel\Facades\DelayQueue;
use Illuminate\Console\Command;
use Illuminate\Support\Facades\DB;

final class PayOrder extends Command
{
    protected $signature = 'order:pay {id}';

    protected $description = 'Pay an order that is still open';

    public function handle(): int
    {
        $id = (int) $this->argument('id');
        $isPaid = DB::transaction(static function () use ($id): bool {
            // With the name of the queue it need not be looked for, so Redis may be away.
            DelayQueue::cancel("order-$id", 'default');

            return Order::whereKey($id)->where('state', 'open')->update(['state' => 'paid']) === 1;
        });
        if (!$isPaid) {
            $this->error("order $id is not open");
        }

        return $isPaid ? self::SUCCESS : self::FAILURE;
    }
}
