<?php

/** A delayed job on its way back to Laravel's redis driver, which has to know it afterwards. */

use DelayQueue\State;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Support\Facades\Queue;
use Illuminate\Support\Facades\Redis;

require getenv('CONTEXTS') . '/shared/laravel.php';

class CloseOrder implements ShouldQueue
{
    use Dispatchable, Queueable;
}

CloseOrder::dispatch()->delay(900);

// The sample.

if (count($native) !== 0 || Queue::connection('redis')->size() !== 1) {
    exit(1);
}
