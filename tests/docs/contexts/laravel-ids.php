<?php

/** The imports that the page leaves out, and the variables that it speaks of. */

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Queue\SerializesModels;

require getenv('CONTEXTS') . '/shared/laravel.php';

class Search implements ShouldQueue
{
    use Dispatchable, DelayQueue\Laravel\Identified, InteractsWithQueue, Queueable, SerializesModels;
}

[$order, $user, $term] = [(object) ['id' => 4711], (object) ['id' => 7], 'teapot'];

// The sample.

if (DelayQueue::find('order-4711') !== null || DelayQueue::find('search-7')?->state !== \DelayQueue\State::Delayed) {
    exit(1);
}
