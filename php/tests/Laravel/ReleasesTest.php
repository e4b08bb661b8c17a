<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\HeldDeed;
use DelayQueue\Tests\Laravel\Support\OwnOverlapping;
use DelayQueue\Tests\Laravel\Support\ReleaseTestCase;
use DelayQueue\Tests\Laravel\Support\ReleasingMiddleware;
use Illuminate\Queue\Middleware\RateLimited;
use Illuminate\Queue\Middleware\RateLimitedWithRedis;
use Illuminate\Queue\Middleware\ThrottlesExceptions;
use Illuminate\Queue\Middleware\ThrottlesExceptionsWithRedis;
use Illuminate\Queue\Middleware\WithoutOverlapping;
use Illuminate\Support\Carbon;
use RuntimeException;

/** A release by Laravel's own middleware: does it count? */
final class ReleasesTest extends ReleaseTestCase
{
    public function testAJobThatRateLimitedHoldsBackUsesUpNoTry(): void
    {
        foreach ([RateLimited::class, RateLimitedWithRedis::class] as $middleware) {
            $this->closeApi($middleware);
            $id = $this->pushBehind(new $middleware('api'));
            $this->runSixTimes($id);
            $this->openApi();
            $this->assertRunsAsItsFirstTry($id);
        }
    }

    public function testAJobThatWithoutOverlappingHoldsBackUsesUpNoTry(): void
    {
        $middleware = new WithoutOverlapping('key');
        $id = $this->pushBehind($middleware);
        $lock = $this->app['cache']->store()->lock($middleware->getLockKey(new Deed('held')), 600);
        $lock->get();
        $this->runSixTimes($id);
        $lock->release();
        $this->assertRunsAsItsFirstTry($id);
    }

    public function testAJobThatThrottlesExceptionsHoldsBackUsesUpNoTry(): void
    {
        foreach ([ThrottlesExceptions::class, ThrottlesExceptionsWithRedis::class] as $middleware) {
            // Its handler throws once; from then on it is not called.
            $id = $this->pushBehind(new $middleware(1, 10), new Deed('held', 0, 'throw'));
            $this->runSixTimes($id);
            $this->assertSame([1, 0], [$this->lines('/^begin held /'), $this->lines('/^failed /')], $middleware);
            $this->assertSame(1, $this->take($id)->attempts());
            $this->forget();
        }
    }

    public function testAMiddlewareOfTheApplicationThatExtendsOneOfThemUsesUpNoTry(): void
    {
        $id = $this->pushBehind(new OwnOverlapping());
        touch(storage_path('held'));
        $this->runSixTimes($id);
        unlink(storage_path('held'));
        $this->assertRunsAsItsFirstTry($id);
    }

    public function testAReleaseThatTheClassOfTheJobWrapsUsesUpNoTry(): void
    {
        $this->closeApi();
        $id = $this->pushBehind(new RateLimited('api'), new HeldDeed('held'));
        $this->runSixTimes($id);
        $this->openApi();
        $this->assertRunsAsItsFirstTry($id);
    }

    public function testAReleaseByTheHandlerCountsAlsoBehindAMiddleware(): void
    {
        foreach (self::COMMANDS as $command) {
            $this->pushBehind(new WithoutOverlapping('key'), new Deed('polite', 0, 'release'));
            $this->work($command);
            $this->work($command);
            $this->assertSame([1, 1], [$this->lines('/^end polite 1 /'), $this->lines('/^end polite 2 /')], $command);
            $this->forget();
        }
    }

    public function testAReleaseByAnotherMiddlewareCounts(): void
    {
        $id = $this->queue()->push((new Deed('held'))->through([new WithoutOverlapping('key'), new ReleasingMiddleware()]));
        $this->take($id)->fire();
        $this->assertSame(2, $this->take($id)->attempts());
    }

    public function testAReleaseThatSaysWhetherItCountsIsAsItSays(): void
    {
        $id = $this->pushBehind(new ReleasingMiddleware(countAttempt: false));
        $this->take($id)->fire();
        $this->assertSame(1, $this->take($id)->attempts());
    }

    public function testTheConnectionMayLetThemCount(): void
    {
        $this->boot(['block_for' => 0, 'release_uncounted' => false]);
        foreach (self::COMMANDS as $command) {
            $this->closeApi();
            $this->runSixTimes($this->pushBehind(new RateLimited('api')), $command);
            $this->assertSame([0, 1, 0], [$this->lines('/^begin held /'), $this->lines('/^failed held /'), $this->queue()->size()], $command);
            $this->forget();
        }
    }

    public function testAJobThatIsHeldBackForEverEndsWithRetryUntil(): void
    {
        foreach (self::COMMANDS as $command) {
            $job = new Deed('held');
            $job->retryUntil = now()->addHour()->getTimestamp();
            $this->closeApi();
            $this->runSixTimes($this->pushBehind(new RateLimited('api'), $job), $command);
            $this->assertSame([0, 1], [$this->lines('/^failed held /'), $this->queue()->size()], $command);
            Carbon::setTestNow(now()->addHours(2));
            $this->work($command);
            $this->assertSame([0, 1, 0], [$this->lines('/^begin held /'), $this->lines('/^failed held /'), $this->queue()->size()], $command);
            Carbon::setTestNow();
            $this->forget();
        }
    }

    public function testExceptionsCountAsEverForAJobThatWasHeldBack(): void
    {
        $job = new Deed('held', 0, 'throw');
        $job->maxExceptions = 2;
        $this->closeApi();
        $id = $this->pushBehind(new RateLimited('api'), $job, tries: 0);
        $this->runSixTimes($id);
        $this->openApi();
        $this->work('queue:work', $id);
        $this->assertSame([1, 0], [$this->lines('/^begin held 1 /'), $this->lines('/^failed held /')]);
        $this->work('queue:work', $id);
        $this->assertSame([1, 1], [$this->lines('/^begin held 2 /'), $this->lines('/^failed held /')]);
    }

    public function testThrottlesExceptionsMayStillFailTheJob(): void
    {
        $middleware = new ThrottlesExceptions(1, 10);
        if (!method_exists($middleware, 'failWhen')) {
            $this->assertFalse(method_exists($middleware, 'shouldFail'), 'before Laravel 12 it does not');

            return;
        }
        HeldDeed::$behind = $middleware->failWhen(RuntimeException::class);
        $this->queue()->push(new HeldDeed('held', 0, 'throw'));
        $this->work('queue:work');
        $this->assertSame([1, 0, 1], [$this->lines('/^failed held /'), $this->queue()->size(), $this->queue()->stats()->failed]);
    }
}
