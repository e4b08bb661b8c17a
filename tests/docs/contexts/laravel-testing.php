<?php

/** A test case that has what the page uses: the time of Laravel's tests, and artisan. */

use DelayQueue\Laravel\Facades\DelayQueue as Queues;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Console\Kernel;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Foundation\Testing\Concerns\InteractsWithTime;
use Illuminate\Queue\InteractsWithQueue;

ini_set('delayqueue.testing', '1');
require getenv('CONTEXTS') . '/shared/laravel.php';

class CloseOrder implements ShouldQueue
{
    use Dispatchable, InteractsWithQueue, Queueable;

    public static int $closed = 0;

    public function handle(): void
    {
        self::$closed++;
    }
}

final class SampleTest
{
    use InteractsWithTime;

    public function __construct(private readonly Illuminate\Foundation\Application $app)
    {
    }

    public function testTheSample(object $order): void
    {
        // The sample.
    }

    private function artisan(string $command): int
    {
        return $this->app->make(Kernel::class)->call($command);
    }
}

(new SampleTest($app))->testTheSample((object) ['id' => 4711]);
if (CloseOrder::$closed !== 1 || Queues::stats()->delayed !== 0) {
    exit(1);
}
