<?php

/**
 * The handler of the example, until the file DEMO_WANTED appears: then one worker, and only one, says in the file DEMO_HELD
 * who it is and which job it has, and dawdles over it until it is killed.
 */

declare(strict_types=1);

use DelayQueue\Job;

$handle = require __DIR__ . '/../php/examples/order-closing/handler.php';

return static function (Job $job) use ($handle): void {
    $wanted = (string) getenv('DEMO_WANTED');
    if (@rename($wanted, "$wanted.taken")) {
        $held = (string) getenv('DEMO_HELD');
        file_put_contents("$held.new", getmypid() . " $job->id");
        rename("$held.new", $held);
        sleep(120);
    }
    $handle($job);
};
