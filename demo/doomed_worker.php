<?php

/**
 * A worker like the other, until the file DEMO_WANTED appears: then it takes one more job, says which in the file
 * DEMO_HELD, and dawdles over it until it is killed.
 */

declare(strict_types=1);

use DelayQueue\Job;

require __DIR__ . '/../php/examples/order-closing/loop.php';

$handle = require __DIR__ . '/../php/examples/order-closing/handler.php';

work(new DelayQueue('orders'), static function (Job $job) use ($handle): void {
    if (is_file((string) getenv('DEMO_WANTED'))) {
        file_put_contents(getenv('DEMO_HELD') . '.new', $job->id);
        rename(getenv('DEMO_HELD') . '.new', (string) getenv('DEMO_HELD'));
        sleep(120);
    }
    $handle($job);
});
