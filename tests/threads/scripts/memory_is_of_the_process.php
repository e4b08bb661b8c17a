<?php

/** Threads share a store in memory by its name, and have others of their own; each waits for what others may push. */

declare(strict_types=1);

use DelayQueue\Job;
use DelayQueue\StopReason;
use DelayQueue\Testing;

require __DIR__ . '/support.php';

const JOBS = 200;

ini_set('delayqueue.testing', '1');
$name = 'shared-' . ROUND;
$shared = new DelayQueue('orders', "memory://$name");
$own = new DelayQueue('orders', 'memory://own-' . THREAD);
$shared->count();
meet('begin');

// While others have the store, they may push: a job is waited for that falls due in more than a second.
if (THREAD === 0) {
    $shared->push('soon', '1.5s');
    $job = $shared->reserve(60);
    expect('soon', $job?->payload, 'the job that a thread has waited for');
    $job->ack();
}
meet('waited');

for ($n = 0; $n < JOBS; $n++) {
    $own->push(THREAD);
    $shared->push(['thread' => THREAD, 'n' => $n], group: 'thread-' . $n % 3);
}
meet('pushed');
expect(JOBS, $own->count(), 'jobs of the own store');
for ($served = 0; ($job = $own->reserve()) !== null; $served++) {
    expect(THREAD, $job->payload, 'a job of the own store');
    $job->ack();
}
expect(JOBS, $served, 'jobs served of the own store');
$mine = 0;
$shared->consume(static function (Job $job) use (&$mine): void {
    $mine++;
}, prefetch: 1 + THREAD, stopWhenEmpty: true);
redis()->ask('INCRBY', "served-$name", (string) $mine);
meet('served');
expect(JOBS * THREADS, (int) redis()->ask('GET', "served-$name"), 'jobs that all threads have served, each once');
expect(0, $shared->count(), 'jobs left over');
expect(JOBS * THREADS + 1, $shared->stats()->acked, 'jobs that were acknowledged');
meet('counted');
THREAD === 0 && Testing::forgetMemory($name);
Testing::forgetMemory('own-' . THREAD);
meet('forgotten');
expect(0, $shared->stats()->pushed, 'what a forgotten store has counted');

// Where nobody else has the store, nothing can come.
expect(StopReason::Empty, $own->consume(static fn () => null), 'why a loop that is alone ends');
