<?php

/** A bus, a message that is routed to a transport of delayqueue, and that transport. */

use DelayQueue\Tests\Symfony\App\Kernel;
use DelayQueue\Tests\Symfony\App\Work;

require getenv('CONTEXTS') . '/shared/symfony.php';

class_alias(Work::class, 'CloseOrder');
$kernel = Kernel::make();
$kernel->boot();
$bus = $kernel->getContainer()->get('test.bus');
$transport = $kernel->getContainer()->get('test.receivers')->get('orders');

// The sample.

if ($queue->groupStats('tenant-42')->waiting !== 1 || $queue->limits()['groups']['tenant-42']->rate !== '100/1m' || $queue->limits()['others']->concurrency !== 2) {
    exit(1);
}
