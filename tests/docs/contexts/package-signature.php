<?php

/** A request with a signature of somebody else. */

use DelayQueue\Http\Signature;

require 'vendor/autoload.php';

[$body, $secret] = ['{}', 'only for this test'];
$_SERVER['HTTP_DELAYQUEUE_JOB'] = 'paid-4711';
$_SERVER['HTTP_DELAYQUEUE_SIGNATURE'] = 't=' . time() . ',v1=' . str_repeat('0', 64);

// The sample.

if (http_response_code() !== 401) {
    exit(1);
}
