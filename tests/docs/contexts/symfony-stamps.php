<?php

/** A bus, and a message that is routed to a transport of delayqueue. */

use DelayQueue\Tests\Symfony\App\Kernel;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\Messenger\Stamp\DelayStamp;

require getenv('CONTEXTS') . '/shared/symfony.php';

class_alias(Work::class, 'CloseOrder');
$kernel = Kernel::make();
$kernel->boot();
$bus = $kernel->getContainer()->get('test.bus');

// The sample.

$job = (new DelayQueue('orders'))->peek('order-4711');
if ($job?->priority !== 10 || $job->ttr !== 300.0 || abs($job->dueAt - microtime(true) - 900) > 30) {
    exit(1);
}
