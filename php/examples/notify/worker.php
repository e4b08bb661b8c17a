<?php

/**
 * Posts notifications until SIGTERM. What no attempt could deliver is buried; once the receiver is well again:
 *
 *     php -r 'echo (new DelayQueue("notify"))->kick(100), "\n";'
 */

declare(strict_types=1);

use DelayQueue\Event;
use DelayQueue\Http\Notifier;
use DelayQueue\Job;

// In a project the autoloader of Composer has both; in a checkout Symfony's client is on the include path, from Debian's php-symfony-http-client.
$composer = __DIR__ . '/../../../../autoload.php';
require is_file($composer) ? $composer : __DIR__ . '/../../autoload.php';
if (!class_exists(Symfony\Component\HttpClient\HttpClient::class)) {
    require 'Symfony/Component/HttpClient/autoload.php';
}

$notifier = new Notifier(
    hosts: explode(' ', getenv('NOTIFY_HOSTS') ?: '127.0.0.1:8081'),
    secrets: getenv('NOTIFY_SECRET') ?: 'only for trying it out',
    // For the receiver beside it. Where receivers are other people's, leave these two out: https, and public addresses alone.
    allowHttp: true,
    privateNetworks: ['127.0.0.1'],
);

$say = static function (Event $event, ?Job $job, ?Throwable $error): void {
    echo "$job->id {$event->value}, attempt $job->attempts", $error === null ? '' : ": {$error->getMessage()}", "\n";
};
$queue = new DelayQueue('notify');
foreach ([Event::Succeeded, Event::Released, Event::Failed, Event::Buried] as $event) {
    $queue->on($event, $say);
}
$queue->consume($notifier);
