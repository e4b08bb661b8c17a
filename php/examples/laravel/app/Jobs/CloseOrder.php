<?php

declare(strict_types=1);

namespace App\Jobs;

use App\Models\Order;
use DelayQueue\Laravel\Identified;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Queue\SerializesModels;

/** Closes an order that nobody has paid. It may run twice (a worker may die after its work), and then changes nothing. */
final class CloseOrder implements ShouldQueue
{
    use Dispatchable;
    use Identified;
    use InteractsWithQueue;
    use Queueable;
    use SerializesModels;

    public int $tries = 5;

    public function __construct(public readonly Order $order)
    {
    }

    public function handle(): void
    {
        // The payment provider has the last word, and takes its time.
        usleep((int) (config('shop.provider_takes') * 1e6));
        $isClosed = Order::whereKey($this->order->getKey())->where('state', 'open')->update(['state' => 'closed']) === 1;
        echo "order {$this->order->id} attempt {$this->attempts()}: ", $isClosed ? 'closed' : 'left alone', PHP_EOL;
    }
}
