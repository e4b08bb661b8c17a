<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\HeldDeed;
use DelayQueue\Tests\Laravel\Support\HoldingMiddleware;
use DelayQueue\Tests\Laravel\Support\ReleaseTestCase;
use DelayQueue\Tests\Laravel\Support\ReleasingMiddleware;
use DelayQueue\Tests\Laravel\Support\UniqueUntilRunDeed;
use Illuminate\Contracts\Bus\Dispatcher;
use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Queue\CallQueuedHandler;
use Illuminate\Queue\Middleware\RateLimited;
use Illuminate\Queue\Middleware\WithoutOverlapping;

/** A release by a middleware that is not Laravel's: does it count? */
final class HoldsBackTest extends ReleaseTestCase
{
    public function testAMiddlewareThatSaysThatItHoldsBackUsesUpNoTry(): void
    {
        touch(storage_path('held'));
        HeldDeed::$behind = new HoldingMiddleware();
        $ways = [
            'an object' => (new Deed('held'))->through([new HoldingMiddleware()]),
            'a name' => (new Deed('held'))->through([HoldingMiddleware::class . ':parameter']),
            'the method, before others' => (new HeldDeed('held'))->through([new WithoutOverlapping('key')]),
        ];
        foreach ($ways as $way => $job) {
            $id = $this->queue()->push($job);
            $this->runSixTimes($id);
            $this->assertSame([0, 1], [$this->lines('/^begin held /'), $this->take($id)->attempts()], $way);
            $this->forget();
        }
    }

    public function testAMiddlewareThatTheConnectionNamesUsesUpNoTry(): void
    {
        $this->boot(['block_for' => 0, 'release_uncounted' => [ReleasingMiddleware::class]]);
        $id = $this->pushBehind(new ReleasingMiddleware());
        $this->runSixTimes($id);
        $this->assertSame([0, 1], [$this->lines('/^begin held /'), $this->take($id)->attempts()]);
        $this->closeApi();
        $this->runSixTimes($this->pushBehind(new RateLimited('api')));
        $lines = [$this->lines('/^begin held /'), $this->lines('/^failed held /')];
        $this->assertSame([0, 0], $lines, "those of Laravel's own still do");
    }

    public function testAMiddlewareOfAKnownPackageUsesUpNoTry(): void
    {
        $middleware = new class () {
            public function handle(Deed $deed): void
            {
                $deed->release();
            }
        };
        class_alias($middleware::class, 'Spatie\RateLimitedMiddleware\RateLimited');
        HeldDeed::$behind = $middleware;
        $id = $this->queue()->push(new HeldDeed('held'));
        $this->runSixTimes($id);
        $this->assertSame([0, 1], [$this->lines('/^begin held /'), $this->take($id)->attempts()]);
    }

    public function testAMiddlewareThatReleasesBetweenOthersCounts(): void
    {
        touch(storage_path('held'));
        HeldDeed::$behind = new WithoutOverlapping('key');
        $job = (new HeldDeed('held'))->through([new ReleasingMiddleware(), new HoldingMiddleware()]);
        $id = $this->queue()->push($job);
        $this->take($id)->fire();
        $this->assertSame(2, $this->take($id)->attempts());
    }

    public function testAHandlerOfTheApplicationsOwnStays(): void
    {
        $handler = new class ($this->app[Dispatcher::class], $this->app) extends CallQueuedHandler {
            public bool $isCalled = false;

            public function call(JobContract $job, array $data): void
            {
                $this->isCalled = true;
                parent::call($job, $data);
            }
        };
        $this->app->instance(CallQueuedHandler::class, $handler);
        Deed::dispatch('plain');
        $this->work('queue:work');
        $this->assertSame([true, 1], [$handler->isCalled, $this->lines('/^end plain /')]);
    }

    public function testAJobThatIsUniqueUntilItRunsKeepsItsLockWhileItIsHeldBack(): void
    {
        $this->closeApi();
        dispatch((new UniqueUntilRunDeed('held'))->through([new RateLimited('api')]));
        $id = $this->queue()->native()->peekReady()?->id;
        $this->runSixTimes((string) $id);
        UniqueUntilRunDeed::dispatch('held');
        $isReleasedBefore = !method_exists(CallQueuedHandler::class, 'commandShouldBeUniqueUntilProcessing');
        // Before Laravel 12 the lock is released as soon as a worker has the job.
        $this->assertSame($isReleasedBefore ? 2 : 1, $this->queue()->size());
        $this->openApi();
        $this->work('queue:work', $id);
        $this->assertSame(1, $this->lines('/^end held 1 /'));
    }
}
