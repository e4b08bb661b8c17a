<?php

/** The imports that the page leaves out, the tables, and then a worker that dies before it acknowledges. */

use DelayQueue\Database\Schema as Tables;
use DelayQueue\Laravel\Database\LaravelConnection;
use DelayQueue\Testing;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Queue;
use Illuminate\Support\Facades\Schema;

ini_set('delayqueue.testing', '1');
putenv('TEST_QUEUE={"block_for":0}');
require getenv('CONTEXTS') . '/shared/laravel.php';
Tables::install(new LaravelConnection(app('db')), jobs: true);
Schema::create('bookings', static function ($table): void {
    $table->integer('order_id');
    $table->integer('cents');
});

// The sample.

BookPayment::dispatch();
$queue = Queue::connection('delayqueue');
$queue->job($queue->native()->reserve(), acknowledgesLater: true)->fire();
Testing::travel('2m');
$queue->job($queue->native()->reserve())->fire();
if (DB::table('bookings')->count() !== 1 || $queue->size() !== 0) {
    exit(1);
}
