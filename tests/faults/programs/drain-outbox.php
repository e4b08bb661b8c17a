<?php

/**
 * A relay that ends when the outbox is empty, and says how many rows it has moved.
 *
 *     drain-outbox.php JSON    [PDO-DSN, USER, PASSWORD, REDIS-DSN]
 */

declare(strict_types=1);

use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;

require dirname(__DIR__) . '/support/bootstrap.php';

[$dsn, $user, $password, $redis] = json_decode($argv[1], true);
$pdo = new PDO($dsn, $user, $password, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 30]);
$relay = new Relay($pdo, static fn (string $name): DelayQueue => new DelayQueue($name, $redis), 50, 0);
$outbox = new Outbox($pdo);
$moved = 0;
while ($outbox->waiting()['rows'] > 0) {
    $moved += $relay->runOnce();
}
echo "$moved\n";
