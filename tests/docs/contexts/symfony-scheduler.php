<?php

/** A message, and the classes of a schedule. */

use DelayQueue\Tests\Symfony\App\Work;

require getenv('CONTEXTS') . '/shared/symfony.php';
require getenv('CONTEXTS') . '/shared/scheduler.php';

class_alias(Work::class, 'CloseOrder');

// The sample.

if (count((new Nightly())->getSchedule()->getRecurringMessages()) !== 1) {
    exit(1);
}
