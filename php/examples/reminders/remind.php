<?php

/**
 * Schedules one reminder per person; a second one takes the place of the first.
 *
 *     php remind.php alice 60 'your trial ends'
 */

declare(strict_types=1);

[, $person, $seconds, $text] = $argv + [1 => null, 2 => null, 3 => null];
if ($text === null) {
    fwrite(STDERR, "usage: php remind.php PERSON SECONDS TEXT\n");
    exit(2);
}

$queue = new DelayQueue('reminders');
$queue->producer($person, time() + (int) $seconds, ['person' => $person, 'text' => $text]);
echo "will remind $person\n";
