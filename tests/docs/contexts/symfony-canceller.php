<?php

/** A service that gets the Canceller, and an order that waits. */

use DelayQueue\Tests\Symfony\App\Kernel;

require getenv('CONTEXTS') . '/shared/symfony.php';

final class Payments
{
    // The sample.
}

$kernel = Kernel::make();
$kernel->boot();
$queue = new DelayQueue('orders');
$queue->push('', delay: '15m', id: 'order-4711', onDuplicate: DelayQueue\OnDuplicate::Keep);
(new Payments($kernel->getContainer()->get('test.canceller')))->orderWasPaid();
if (count($queue) !== 0) {
    exit(1);
}
