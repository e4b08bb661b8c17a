<?php

/** A queue, and what has to have been pushed. */

use DelayQueue\State;
use DelayQueue\Tracing\Trace;

require 'vendor/autoload.php';

$queue = new DelayQueue('traced');

// The sample.

$jobs = [...$queue->list(State::Delayed), ...$queue->list(State::Ready)];
$traces = array_unique(array_map(fn ($job) => $job->headers['traceparent'] ?? '', $jobs));
if ($queue->peek($id) === null || count($jobs) !== 3 || count($traces) !== 2 || in_array('', $traces, true)) {
    exit(1);
}
