<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DateInterval;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Support\SkewedRedis;
use Illuminate\Support\Carbon;

/** Laravel's moments come of the host's clock: whatever Redis' clock says, a job waits as long as was meant. */
final class ClocksTest extends LaravelTestCase
{
    private ?SkewedRedis $redis = null;

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->redis?->stop();
    }

    public function testMomentsAreDelaysWithARedisAnHourBehind(): void
    {
        $this->momentsAreDelays(-3600);
    }

    public function testMomentsAreDelaysWithARedisAnHourAhead(): void
    {
        $this->momentsAreDelays(3600);
    }

    private function momentsAreDelays(int $skew): void
    {
        $this->redis = new SkewedRedis($skew);
        $this->boot(['dsn' => $this->redis->dsn(), 'block_for' => 0]);
        $queue = $this->queue();
        Deed::dispatch('dispatched')->delay(now()->addMinutes(15))->identifiedBy('dispatched');
        $queue->later(now()->addMinutes(15), (new Deed('later'))->identifiedBy('later'));
        $queue->later(new DateInterval('PT15M'), (new Deed('interval'))->identifiedBy('interval'));
        $queue->bulk([(new Deed('bulk'))->delay(now()->addMinutes(15))->identifiedBy('bulk')]);
        $queue->push((new Deed('released'))->identifiedBy('released'));
        $queue->pop()->release(now()->addMinutes(15));
        Deed::dispatch('first')->delay(now()->addMinutes(15))->identifiedBy('replaced', onDuplicate: OnDuplicate::Replace);
        Deed::dispatch('replaced')->delay(now()->addMinutes(15))->identifiedBy('replaced', onDuplicate: OnDuplicate::Replace);

        Deed::dispatch('moved')->delay(60)->identifiedBy('moved');
        $this->assertTrue($queue->reschedule('moved', now()->addMinutes(15)));

        foreach (['dispatched', 'later', 'interval', 'bulk', 'released', 'replaced', 'moved'] as $id) {
            $this->assertEqualsWithDelta(microtime(true) + $skew + 900, $queue->find($id)?->dueAt, 2.0, $id);
            $this->assertSame(State::Delayed, $queue->find($id)?->state);
            $this->assertDelayed($id, $queue->native(), 900);
        }
        $this->assertNull($queue->pop());
        $this->travel(901);
        $this->assertNotNull($queue->pop());
    }

    public function testAMomentThatHasPassedIsDueAtOnceTheOldestFirst(): void
    {
        foreach ([-3600, 3600] as $skew) {
            $this->redis?->stop();
            $this->redis = new SkewedRedis($skew);
            $this->boot(['dsn' => $this->redis->dsn(), 'block_for' => 0]);
            foreach (['b' => 10, 'a' => 300, 'c' => 0.001] as $name => $seconds) {
                $this->queue()->later(now()->subMicroseconds((int) (1e6 * $seconds)), (new Deed($name))->identifiedBy($name));
            }
            $this->assertSame(['a', 'b', 'c'], array_map(fn (): ?string => $this->queue()->pop()?->getJobId(), range(1, 3)), "$skew s");
        }
    }

    public function testATestTimeThatStandsStillCounts(): void
    {
        $this->redis = new SkewedRedis(3600);
        $this->boot(['dsn' => $this->redis->dsn(), 'block_for' => 0]);
        Carbon::setTestNow(Carbon::now()->addDays(3));
        Deed::dispatch('one')->delay(now()->addMinutes(15))->identifiedBy('one');
        $this->assertDelayed('one', $this->queue()->native(), 900);
        $this->assertNull($this->queue()->pop());
        Carbon::setTestNow(Carbon::now()->addMinutes(16));
        $this->assertNotNull($this->queue()->pop());
    }
}
