<?php

/**
 * The handler of the example, until the file DEMO_WANTED appears: then one worker, and only one, writes its process id and its
 * job into the file DEMO_HELD, and sleeps over that job until it is killed.
 * A job of the queue reports, which the schedule pushes, is a line in the file DEMO_REPORTS.
 */

declare(strict_types=1);

use DelayQueue\Job;

$handle = require __DIR__ . '/../php/examples/order-closing/handler.php';

return static function (Job $job) use ($handle): void {
    if ($job->queue === 'reports') {
        file_put_contents((string) getenv('DEMO_REPORTS'), "$job->id\n", FILE_APPEND | LOCK_EX);

        return;
    }
    $wanted = (string) getenv('DEMO_WANTED');
    if (@rename($wanted, "$wanted.taken")) {
        $held = (string) getenv('DEMO_HELD');
        file_put_contents("$held.new", getmypid() . " $job->id");
        rename("$held.new", $held);
        sleep(120);
    }
    $handle($job);
};
