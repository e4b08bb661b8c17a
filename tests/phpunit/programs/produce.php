<?php

/**
 * Pushes for ever. What became of each push is a line in the log: accepted, refused or ambiguous, and the id.
 *
 *     produce.php DSN QUEUE LOG NAME READ-TIMEOUT
 */

declare(strict_types=1);

[, $dsn, $name, $log, $who, $timeout] = $argv;
$queue = new DelayQueue($name, $dsn, ['readTimeout' => (float) $timeout, 'maxAttempts' => 0, 'ttr' => 2]);
for ($n = 0; ; $n++) {
    $id = "$who-$n";
    try {
        $queue->push($n, delay: $n % 3 / 20, id: $id);
        $outcome = 'accepted';
    } catch (DelayQueue\ConnectionException $e) {
        $outcome = $e->ambiguous ? 'ambiguous' : 'refused';
        usleep(5_000);
    } catch (DelayQueue\ServerException) {
        $outcome = 'refused';
        usleep(5_000);
    }
    file_put_contents($log, "$outcome $id\n", FILE_APPEND);
    usleep(500);
}
