<?php

/** Two tasks in a queue, the shop and the container that the page speaks of, and what has to be done afterwards. */

use DelayQueue\Worker\TaskRouter;

require 'vendor/autoload.php';

final class Reminder
{
    public static int $sent = 0;

    public function handle(array $params): void
    {
        self::$sent++;
        posix_kill(getmypid(), SIGTERM);
    }
}

$shop = new class () {
    public array $closed = [];

    public function close(int $order): void
    {
        $this->closed[] = $order;
    }
};
$container = null;
$queue = new DelayQueue('router');
$queue->push(['task' => 'close-order', 'params' => ['order' => 4711]]);
$queue->push(['task' => 'remind', 'params' => ['to' => 'ann']]);

// The sample.

if ($shop->closed !== [4711] || Reminder::$sent !== 1 || count($queue) !== 0) {
    exit(1);
}
