<?php

/** The sample, and that Redis does not see the card. */

// The sample.

if ($job?->payload !== ['card' => '4711'] || $job->headers !== ['tenant' => 'acme']) {
    exit(1);
}
$plain = new DelayQueue('orders');
if ($plain->peek($job->id)?->payload !== null) {
    exit(1);
}
