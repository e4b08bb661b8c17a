<?php

/** An application with a service and a job, and the queue that the sample pushes to. */

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;

require getenv('CONTEXTS') . '/shared/laravel.php';

class CloseShop
{
    public static array $closed = [];

    public function __construct(private readonly Illuminate\Contracts\Config\Repository $config)
    {
    }

    public function handle(int $shop): void
    {
        self::$closed[] = [$shop, $this->config->get('queue.default')];
    }
}

class Report implements ShouldQueue
{
    use Dispatchable, Queueable;

    public function __construct(public int $shop)
    {
    }
}

// The sample.

$shops->push(['task' => 'close-shop', 'params' => 43]);
$shops->reschedule($shops->peekDelayed()->id, 0);
$shops->drain($router);
if (CloseShop::$closed !== [[43, 'delayqueue']] || DelayQueue::native('reports')->count() !== 1 || count($shops) !== 0) {
    exit(1);
}
