<?php

/** A notification as one task among others. */

use DelayQueue\Http\Message;
use DelayQueue\Http\Notifier;
use DelayQueue\Job;
use DelayQueue\Worker\TaskRouter;

require getenv('CONTEXTS') . '/shared/http.php';

// The sample.

$queue = new DelayQueue('notify-task');
$queue->push(['task' => 'notify', 'params' => ['url' => 'https://shop.example/paid', 'body' => 1]]);
$queue->consume($router);
if (count(Symfony\Component\HttpClient\HttpClient::$posted) !== 1 || count($queue) !== 0) {
    exit(1);
}
