<?php

/**
 * Makes a Redis forget its scripts every so many milliseconds, until it is killed.
 *
 *     flush_scripts.php SOCKET MILLISECONDS
 */

declare(strict_types=1);

require dirname(__DIR__) . '/support/RedisClient.php';

$redis = new DelayQueue\Tests\Support\RedisClient($argv[1]);
echo "flushing\n";
while (true) {
    $redis->ask('SCRIPT', 'FLUSH');
    usleep((int) $argv[2] * 1000);
}
