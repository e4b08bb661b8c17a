<?php

/**
 * The other side: takes what is signed with its secret, and each notification once.
 *
 *     php -S 127.0.0.1:8081 receiver.php
 */

declare(strict_types=1);

use DelayQueue\Http\Signature;

require __DIR__ . '/../../autoload.php';

$id = $_SERVER['HTTP_DELAYQUEUE_JOB'] ?? '';
$body = (string) file_get_contents('php://input');
$secret = getenv('NOTIFY_SECRET') ?: 'only for trying it out';
if (!Signature::verify($_SERVER['HTTP_DELAYQUEUE_SIGNATURE'] ?? '', $id, $body, $secret)) {
    http_response_code(401);
    exit('not signed with our secret, or too long ago');
}

// Stands for one transaction: note the id under a unique key, and do what the notification is about.
$done = @fopen(sys_get_temp_dir() . '/notified-' . hash('sha256', $id), 'x');
if ($done !== false) {
    fwrite($done, $body);
}
http_response_code(204);
