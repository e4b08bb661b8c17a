<?php

/** The imports that the page leaves out. */

use DelayQueue\Laravel\Facades\DelayQueue;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;

require getenv('CONTEXTS') . '/shared/laravel.php';

// The sample.

$native = DelayQueue::native('default');
if ($native->groupStats('shop-42')->waiting !== 1 || $native->limits()['groups']['shop-42']->rate !== '100/1m' || $native->limits()['others']->concurrency !== 2) {
    exit(1);
}
