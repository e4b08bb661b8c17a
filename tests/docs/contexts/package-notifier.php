<?php

/** A notification that waits, and a receiver that takes it. */

use DelayQueue\Http\Notifier;

require getenv('CONTEXTS') . '/shared/http.php';

$secret = 'only for this test';
$queue = new DelayQueue('notifier');
$queue->push(['url' => 'https://api.example:8443/paid', 'body' => ['order' => 4711]]);

// The sample.

if (count(Symfony\Component\HttpClient\HttpClient::$posted) !== 1 || count($queue) !== 0) {
    exit(1);
}
