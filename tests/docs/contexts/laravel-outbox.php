<?php

/** A shop whose default database connection is the outbox, with an order that waits to be paid. */

use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\Laravel\Identified;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Queue\SerializesModels;
use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Schema;

putenv('TEST_QUEUE={"outbox":true,"block_for":0}');
require getenv('CONTEXTS') . '/shared/laravel.php';

class Order extends Model
{
    public $timestamps = false;

    protected $guarded = [];
}

class CloseOrder implements ShouldQueue
{
    use Dispatchable, Identified, InteractsWithQueue, Queueable, SerializesModels;

    public function __construct(public Order $order)
    {
    }
}

Artisan::call('vendor:publish', ['--tag' => 'delayqueue-migrations']);
Artisan::call('migrate', ['--force' => true]);
Schema::create('orders', static function ($table): void {
    $table->id();
    $table->string('product');
    $table->boolean('paid')->default(false);
});
$order = Order::create(['product' => 'kettle']);
CloseOrder::dispatch($order)->delay(900)->identifiedBy('order-1');
$product = 'teapot';

// The sample.

if (DelayQueue::find('order-1') !== null || DelayQueue::find('order-2') === null || Artisan::call('delayqueue:relay', ['--once' => true, '--after' => '0']) !== 0) {
    exit(1);
}
