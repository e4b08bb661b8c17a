<?php

/** The names that the page uses without saying so. */

use DelayQueue\Http\Schedule;

require 'vendor/autoload.php';

$queue = new DelayQueue('paid');

// The sample.

if ($queue->peek('paid-4711')?->maxAttempts !== 10) {
    exit(1);
}
