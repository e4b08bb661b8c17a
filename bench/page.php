<?php

/** A short web request of the case fpm: pushes one job, or does all but that. */

declare(strict_types=1);

use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peers;

require __DIR__ . '/autoload.php';

$endpoint = new Endpoint(pid: 0, port: (int) $_GET['port'], persistent: (bool) $_GET['persistent']);
$payload = Order::payload((int) $_GET['number']);
Peers::traits($_GET['peer']);
if ($_GET['push']) {
    Peers::connect($_GET['peer'], $endpoint)->push(Order::id((int) $_GET['number']), 3_600_000, $payload);
}
echo 'ok';
