<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Laravel\Support\PausingWorker;
use Illuminate\Queue\WorkerOptions;

/** Queues that Laravel calls paused, and Redis does not. */
final class PausesTest extends LaravelTestCase
{
    public function testAWorkerOfSeveralQueuesTakesNoJobOfAPausedOne(): void
    {
        foreach (['a', 'b', 'b'] as $number => $queue) {
            Deed::dispatch("$number-of-$queue")->onQueue($queue);
        }
        $worker = PausingWorker::inPlaceOf($this->app['queue.worker']);
        $begun = function (string ...$paused) use ($worker): int {
            $worker->pausedNow = $paused;
            $worker->runNextJob('delayqueue', 'a,b', new WorkerOptions(sleep: 0));

            return $this->lines('/^begin/');
        };
        $this->assertSame(0, $begun('a', 'b'));
        $this->assertSame(1, $begun('a'));
        $this->assertSame(2, $begun('a'));
        $this->assertSame(2, $begun('a'));
        $this->assertSame(0, $this->lines('/^begin 0-of-a/'));
        $this->assertSame(3, $begun());
    }
}
