<?php

/** A queue object, as the page has it. */

$queue = new DelayQueue('tasks');

// The sample.

if (count($queue) !== 1) {
    exit(1);
}
