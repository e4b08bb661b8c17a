<?php

/**
 * Sends what is due, then ends: * * * * * php cron.php
 *
 * consumer() takes messages and deletes them in one step. What is taken when this script dies is not sent: for reminders
 * that is better than sending twice. Where it is not, use reserve() and ack() as in order-closing/.
 */

declare(strict_types=1);

$queue = new DelayQueue('reminders');
$sent = 0;
while (($messages = $queue->consumer(limit: 100)) !== []) {
    foreach ($messages as ['person' => $person, 'text' => $text]) {
        echo "dear $person: $text\n";
        $sent++;
    }
}
echo "$sent sent\n";
