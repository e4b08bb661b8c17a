<?php

/** Handles the job of an order whose time to pay is over. */

declare(strict_types=1);

use DelayQueue\Job;

require_once __DIR__ . '/Shop.php';

$shop = new Shop();

return static function (Job $job) use ($shop): void {
    $id = $job->payload['order'];
    $closed = $shop->close($id);
    $late = (microtime(true) - $job->dueAt) * 1000;
    printf("%s %s, attempt %d, %.0f ms after its time\n", $closed ? 'closed' : 'left', $id, $job->attempts, $late);
};
