<?php

/**
 * Holds so many connections to a Redis until its standard input ends; says how many there are, and each refusal.
 *
 *     crowd.php DSN CONNECTIONS
 */

declare(strict_types=1);

$all = [];
for ($n = 0; $n < (int) $argv[2]; $n++) {
    $queue = new DelayQueue('crowd', $argv[1], ['persistent' => false, 'connectTimeout' => 5, 'readTimeout' => 5]);
    try {
        $queue->push($n, '1h');
        $all[] = $queue;
    } catch (DelayQueue\Exception $e) {
        echo 'refused: ', $e::class, ' ', $e->getMessage(), "\n";
    }
}
echo 'connected: ', count($all), "\n";
fgets(STDIN);
