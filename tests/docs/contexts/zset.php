<?php

/** A queue of the recipe with a sorted set, and what has to be left of it afterwards. */

$old = new Redis();
$old->connect((string) getenv('SESSION_SOCKET'));
$old->del('reminders', 'reminders:messages');
for ($number = 0; $number < 250; $number++) {
    $old->zAdd('reminders', 2_000_000_000.25 + $number, "id-$number");
    $old->hSet('reminders:messages', "id-$number", json_encode(['number' => $number]));
}

// The sample.

$moved = (new DelayQueue('reminders'))->peek('id-7');
if ($old->exists('reminders', 'reminders:messages') !== 0 || $moved?->payload !== ['number' => 7] || $moved->dueAt !== 2_000_000_007.25) {
    exit(1);
}
