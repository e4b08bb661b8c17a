<?php

/** An application whose failed jobs are buried as well: two of which Laravel knows nothing, and one job that waits. */

use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\Laravel\Identified;
use DelayQueue\State;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\Queue;

putenv('TEST_QUEUE={"bury_failed":true,"block_for":0}');
require getenv('CONTEXTS') . '/shared/laravel.php';

class CloseOrder implements ShouldQueue
{
    use Dispatchable, Identified, InteractsWithQueue, Queueable;
}

foreach (['order-1', 'order-2'] as $id) {
    CloseOrder::dispatch()->identifiedBy($id);
    Queue::connection('delayqueue')->pop()->fail(new RuntimeException('no luck'));
}
CloseOrder::dispatch()->identifiedBy('order-3');
$buried = static fn (): int => DelayQueue::native('default')->count(State::Buried);
if ($buried() !== 2) {
    exit(1);
}
$id = 'order-1';

// The sample.

if ($buried() !== 0 || DelayQueue::find('order-3') === null) {
    exit(1);
}
