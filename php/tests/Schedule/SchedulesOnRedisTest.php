<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Runner;
use DelayQueue\Schedule\Schedules;
use DelayQueue\SealException;
use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;

final class SchedulesOnRedisTest extends TestCase
{
    use InteractsWithDelayQueue;
    use SchedulesCase;

    public function testATargetThatNeedsKeysIsRefused(): void
    {
        $this->delayQueue('target', ['keys' => ['k' => str_repeat('k', 32)]])->push(1, delay: 60);
        try {
            $this->schedules->set('a', Every::interval('1h'), queue: 'target');
            $this->fail('it was set');
        } catch (SealException $error) {
            $this->assertSame(['queue target needs keys: its jobs are sealed', 0], [$error->getMessage(), $this->queue->count()]);
        }
    }

    public function testARunnerWithoutKeysDoesNotStart(): void
    {
        $sealed = $this->delayQueue('schedules', ['keys' => ['k' => str_repeat('k', 32)]]);
        (new Schedules($sealed))->set('a', Every::interval('1h'), queue: 'target');
        $this->assertInstanceOf(Runner::class, new Runner($sealed));
        $this->expectException(SealException::class);
        new Runner($this->queue);
    }

    public function testASealedQueueWithoutKeysIsRefused(): void
    {
        $sealed = new Schedules($this->delayQueue('schedules', ['keys' => ['k' => str_repeat('k', 32)]]));
        $sealed->set('a', Every::interval('1h'), queue: 'target');
        $body = $this->queue->peek('a')?->body;
        $set = fn (string $name): bool => $this->schedules->set($name, Every::interval('1m'), queue: 'target');
        $refused = [];
        $calls = [fn () => $set('a'), fn () => $set('b'), fn () => $this->schedules->get('a'), fn () => $this->schedules->pause('a'), fn () => $this->schedules->runNow('a'),
            fn () => iterator_to_array($this->schedules->all())];
        foreach ($calls as $call) {
            try {
                $call();
            } catch (SealException $error) {
                $refused[] = $error->getMessage();
            }
        }
        $this->assertCount(6, $refused);
        $this->assertStringStartsWith("schedule 'a' in queue 'schedules' cannot be opened: ", $refused[1]);
        $this->assertSame([1, $body], [$this->queue->count(), $this->queue->peek('a')?->body]);
    }
}
