<?php

/** An application with a database, an empty table of orders, and a message that is routed to a transport with an outbox. */

use DelayQueue\Database\Schema;
use DelayQueue\Symfony\Database\DbalConnection;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Tests\Symfony\App\Kernel;
use DelayQueue\Tests\Symfony\App\ShopWork;
use Symfony\Component\Messenger\Stamp\DelayStamp;

require getenv('CONTEXTS') . '/shared/symfony.php';

class_alias(ShopWork::class, 'CloseOrder');
putenv('APP_ENV=shop');
$kernel = Kernel::make();
$kernel->boot();
$bus = $kernel->getContainer()->get('test.bus');
$connection = $kernel->getContainer()->get('doctrine.dbal.default_connection');
Schema::install(new DbalConnection($connection));
$connection->executeStatement('create table if not exists orders (number integer)');

// The sample.

$job = (new DelayQueue('shop'))->peek('order-4711');
if ($job === null || abs($job->dueAt - microtime(true) - 900) > 30) {
    exit(1);
}
