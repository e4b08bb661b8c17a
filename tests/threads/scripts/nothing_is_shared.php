<?php

/** Settings, time, prefix, connections, exceptions and listeners are those of the thread. */

declare(strict_types=1);

use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use DelayQueue\Testing;

require __DIR__ . '/support.php';

// A request begins with the settings of php.ini, whatever another thread or the request before has set.
expect('', ini_get('delayqueue.prefix'), 'the prefix of a new request');
expect('0', ini_get('delayqueue.testing'), 'delayqueue.testing of a new request');
meet('begin');
ini_set('delayqueue.prefix', 'thread' . THREAD);
ini_set('delayqueue.dsn', dsn());
THREAD % 2 === 0 && ini_set('delayqueue.testing', '1');
meet('set');
expect('thread' . THREAD, ini_get('delayqueue.prefix'), 'the prefix that this thread has set');
expect(THREAD % 2 === 0 ? '1' : '0', ini_get('delayqueue.testing'), 'delayqueue.testing of this thread');

// Every second thread travels, each to a time of its own.
try {
    Testing::travel(THREAD * 3600);
    expect(0, THREAD % 2, 'the remainder of a thread that may travel');
} catch (Error $error) {
    expect(1, THREAD % 2, 'the remainder of a thread that may not travel');
}
meet('travelled');
expect(THREAD % 2 === 0 ? THREAD * 3600 : 0, (int) round(Testing::offset()), 'the offset of this thread');

// All push the same ids to the same names: only the prefix of the thread tells them apart.
$queue = new DelayQueue('jobs', null, ['readTimeout' => 20]);
$mine = ['thread' => THREAD, 'round' => ROUND];
for ($n = 0; $n < 100; $n++) {
    $queue->push($mine + ['n' => $n], id: "job-$n", headers: ['thread' => 'thread-' . THREAD]);
}
$queue->push('later', delay: 1800, id: 'later');
$queue->push('again', delay: '1h', id: 'again');
try {
    $queue->push('twice', id: 'again');
    complain('a duplicate was accepted');
} catch (DelayQueue\DuplicateJobException $e) {
    expect(true, str_contains($e->getMessage(), 'again'), 'the duplicate is named');
}
$queue->push('again', delay: '1h', id: 'again', onDuplicate: OnDuplicate::Replace);
meet('pushed');
expect(102, $queue->count(), 'jobs of this thread');
expect(2, $queue->count(State::Delayed), 'delayed jobs of this thread');
// In the state between a travel and a reserve no other thread's travel may move this one.
if (THREAD % 2 === 0) {
    Testing::travel('31m');
}
meet('travelled again');

$heard = 0;
$queue->on(Event::Succeeded, static function () use (&$heard): void {
    $heard++;
});
$seen = [];
$handled = $queue->drain(static function (Job $job) use (&$seen, $mine): void {
    if (is_array($job->payload)) {
        expect($mine, array_intersect_key($job->payload, $mine), 'the payload of a job');
        expect(['thread' => 'thread-' . THREAD], $job->headers, 'the headers of a job');
    }
    $seen[] = $job->id;
});
$due = THREAD % 2 === 0 ? 101 : 100;
expect($due, $handled, 'jobs that were due');
expect($due, count(array_unique($seen)), 'different jobs');
expect($due, $heard, 'successes that the listener of this thread heard of');

// A call that fails in one thread throws there.
for ($n = 0; $n < 50; $n++) {
    try {
        new DelayQueue('no spaces in ' . THREAD);
        complain('a wrong name was accepted');
    } catch (ValueError $e) {
        expect(true, str_contains($e->getTraceAsString(), 'nothing_is_shared.php'), 'the trace is of this thread');
    }
}

// One connection for each thread, also after many requests.
meet('worked');
if (THREAD === 0) {
    // Connections of threads that kept leases are closed a moment later.
    until(static fn (): bool => connections() <= THREADS, 'this process has no more than one connection for each thread');
    expect(THREADS, connections(), 'connections of this process');
}
meet('counted');
$queue->purge();
if (THREAD % 2 === 0) {
    Testing::travelBack();
}
