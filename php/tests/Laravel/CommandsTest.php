<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Laravel\Console\WorkCommand;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use Illuminate\Console\Application as Artisan;
use ReflectionClass;
use Symfony\Component\Console\Attribute\AsCommand;

/** The commands beside the workers. */
final class CommandsTest extends LaravelTestCase
{
    public function testJobsAreCancelledAndTheMissingNamed(): void
    {
        Deed::dispatch('one')->delay(60)->identifiedBy('order-1');
        $output = $this->artisan('delayqueue:cancel', ['id' => ['order-1', 'order-2']], 1);
        $this->assertStringContainsString('cancelled order-1', $output);
        $this->assertStringContainsString('not there order-2', $output);
        $this->assertSame(0, $this->queue()->size());
    }

    public function testAJobIsRescheduledByDurationAndByTime(): void
    {
        Deed::dispatch('one')->delay(60)->identifiedBy('order-1');
        $this->artisan('delayqueue:reschedule', ['id' => 'order-1', 'when' => '2h']);
        $this->assertEqualsWithDelta(microtime(true) + 7200, DelayQueue::find('order-1')->dueAt, 10);
        $this->artisan('delayqueue:reschedule', ['id' => 'order-1', 'when' => '2040-01-31 12:00']);
        $this->assertEqualsWithDelta(2211624000.0, DelayQueue::find('order-1')->dueAt, 2);
        $this->artisan('delayqueue:reschedule', ['id' => 'order-1', 'when' => 'no time'], 2);
        $this->artisan('delayqueue:reschedule', ['id' => 'order-2', 'when' => '5'], 1);
    }

    public function testAJobIsShown(): void
    {
        Deed::dispatch('one')->onQueue('a b')->delay(60)->identifiedBy('order-1');
        $output = $this->artisan('delayqueue:show', ['id' => 'order-1']);
        foreach (['order-1', 'Deed', 'a b', 'delayed'] as $word) {
            $this->assertStringContainsString($word, $output);
        }
        $this->artisan('delayqueue:show', ['id' => 'order-2'], 1);
    }

    public function testJobsOfTheRedisDriverMoveOverWithTheirTimes(): void
    {
        $redis = $this->app['queue']->connection('redis');
        foreach (range(1, 3) as $n) {
            $redis->push(new Deed("waiting $n"));
        }
        $redis->later(3600, new Deed('delayed'));
        $redis->later(60, new Deed('elsewhere'), '', 'other');
        $redis->push(new Deed('in hand'), '', 'busy');
        $held = $redis->pop('busy');

        $output = $this->artisan('delayqueue:import', ['from' => 'redis']);
        $this->assertStringContainsString('default 3 waiting and 1 delayed', $output);
        $this->assertStringContainsString('other 0 waiting and 1 delayed', $output);
        $this->assertSame([0, 0, 1], [$redis->size(), $redis->size('other'), $redis->size('busy')]);
        $this->assertSame([3, 1, 1], [$this->queue()->pendingSize(), $this->queue()->delayedSize(), $this->queue()->size('other')]);
        $delayed = $this->queue()->native()->peekDelayed();
        $this->assertEqualsWithDelta(microtime(true) + 3600, $delayed->dueAt, 10);
        $held->delete();

        foreach (range(1, 3) as $n) {
            $job = $this->queue()->pop();
            $this->assertSame(1, $job->attempts());
            $job->fire();
            $this->assertSame(1, $this->lines("/^end waiting $n /"));
        }
        $this->assertStringContainsString('default 0 waiting and 0 delayed', $this->artisan('delayqueue:import', ['--queue' => 'default']));
        $this->assertSame(1, $this->queue()->size());
    }

    public function testAnImportThatBrokeOffIsStartedAgainWithoutHarm(): void
    {
        $redis = $this->app['queue']->connection('redis');
        $redis->push(new Deed('one'));
        $redis->later(600, new Deed('two'));
        $client = $this->app['redis']->connection();
        $waiting = $client->lrange('queues:default', 0, -1);
        $delayed = $client->zrange('queues:default:delayed', 0, -1);
        $this->artisan('delayqueue:import');
        // As if it had ended between the push here and the deletion there.
        $client->rpush('queues:default', $waiting[0]);
        $client->zadd('queues:default:delayed', time() + 600, $delayed[0]);
        $this->artisan('delayqueue:import');

        $this->assertSame(0, $redis->size());
        $this->assertSame([1, 1], [$this->queue()->pendingSize(), $this->queue()->delayedSize()]);
    }

    public function testAttemptsOfTheRedisDriverAreNotForgotten(): void
    {
        $redis = $this->app['queue']->connection('redis');
        $redis->push(new Deed('tried'));
        $redis->pop()->release(0);
        $this->artisan('delayqueue:import');
        $this->assertSame(2, $this->queue()->pop()->attempts());
    }

    public function testOnlyTheRedisDriverIsImported(): void
    {
        $this->artisan('delayqueue:import', ['from' => 'sync'], 2);
    }

    public function testTheFrameworksOwnCommandsWork(): void
    {
        Deed::dispatch('one');
        $this->artisan('queue:clear', ['--force' => true]);
        $this->assertSame(0, $this->queue()->size());
        if (array_key_exists('about', $this->app->make(\Illuminate\Contracts\Console\Kernel::class)->all())) {
            $this->assertStringContainsString('delayqueue', strtolower($this->artisan('about', ['--only' => 'delayqueue'])));
        }
    }

    public function testFailedJobsAreListedRetriedAndForgotten(): void
    {
        $job = new Deed('hopeless', 0, 'throw');
        $job->tries = 1;
        $id = $this->queue()->push($job);
        $this->artisan('queue:work', ['--stop-when-empty' => true]);
        $this->assertSame(0, $this->queue()->size());
        $this->assertStringContainsString($id, $this->artisan('queue:failed'));

        $this->artisan('queue:retry', ['id' => [$id]]);
        $this->assertStringNotContainsString($id, $this->artisan('queue:failed'));
        $this->assertSame([1, $id], [$this->queue()->size(), $this->queue()->native()->peekReady()->id]);
        $this->artisan('queue:work', ['--stop-when-empty' => true]);
        $this->assertSame(2, $this->lines('/^begin hopeless 1 /'), 'the retry begins with its first try');

        $this->artisan('queue:forget', ['id' => $id]);
        $this->assertSame(0, $this->app['db']->table('failed_jobs')->count());
    }

    public function testArtisanStartsWithoutAWorkerAndItsCache(): void
    {
        $attributes = (new ReflectionClass(WorkCommand::class))->getAttributes(AsCommand::class);
        $this->assertSame(['delayqueue:work'], array_map(static fn ($attribute): string => $attribute->newInstance()->name, $attributes));
        // Before Laravel 9 artisan makes all commands whenever it starts, the framework's own workers among them.
        if (method_exists(Artisan::class, 'setContainerCommandLoader')) {
            $this->app['config']->set('cache.default', 'a store that is not there');
            $this->artisan('env');
        }
    }

    public function testPausingReachesOtherConsumersWhereLaravelPausesQueues(): void
    {
        $commands = $this->app->make(\Illuminate\Contracts\Console\Kernel::class)->all();
        Deed::dispatch('one');
        if (!isset($commands['queue:pause'])) {
            $this->assertNotNull($this->queue()->pop());

            return;
        }
        $this->artisan('queue:pause', ['queue' => 'delayqueue:default']);
        $this->assertTrue($this->delayQueue()->isPaused());
        $this->assertNull($this->delayQueue()->reserve());
        $this->artisan(isset($commands['queue:resume']) ? 'queue:resume' : 'queue:continue', ['queue' => 'delayqueue:default']);
        $this->assertSame(State::Ready, $this->delayQueue()->peekReady()?->state);
        $this->assertNotNull($this->queue()->pop());
    }
}
