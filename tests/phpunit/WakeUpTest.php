<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Relay;
use DelayQueue\Tests\Support\Wait;

/** A consumer that waits hears of a job at once, and not when it next looks by itself. */
final class WakeUpTest extends ProcessTestCase
{
    /** Waiters look by themselves after four seconds at the earliest. */
    private const AT_ONCE = 3.0;

    public function testAWakeUpThatComesTogetherWithTheReplyBeforeItIsHeard(): void
    {
        $relay = new Relay($this->redis);
        $worker = $this->remote([], $relay);
        $this->assertNull($worker->call('reserve', 0.01), 'scripts are loaded, the channel is subscribed to');
        $worker->begin('reserve', 10);
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 5, 'it waits');
        $relay->holdReplies();
        $this->queue()->push('first');
        $relay->untilHolding();
        $relay->pass();
        $this->assertSame('first', $worker->outcome()['result']['payload']);
        $worker->call('ack');

        // Held are: the answer to its look, then the wake-up. They arrive in one piece.
        $relay->holdReplies();
        $worker->begin('reserve', 10);
        $relay->untilHolding();
        $this->queue()->push('second', delay: 0.3);
        $relay->pass();
        $outcome = $worker->outcome();
        $this->assertSame('second', $outcome['result']['payload']);
        $this->assertLessThan(self::AT_ONCE, Machine::without($outcome['seconds']));
        $worker->kill();
        $relay->stop();
    }

    public function testEveryOneOfManyPushesWakesAWaiter(): void
    {
        $queue = $this->queue();
        $workers = [$this->remote(), $this->remote(), $this->remote()];
        $slowest = 0.0;
        for ($round = 0; $round < 60; $round++) {
            $worker = $workers[$round % 3];
            $worker->begin('reserve', 10);
            // At a moment that differs: before, while and after it begins to wait.
            usleep($round * 40);
            $queue->push($round, delay: $round % 2 === 0 ? 0 : 0.01);
            $outcome = $worker->outcome();
            $this->assertSame($round, $outcome['result']['payload'] ?? $outcome['message'] ?? null);
            $slowest = max($slowest, Machine::without($outcome['seconds']));
            $worker->call('ack');
        }
        $this->assertLessThan(self::AT_ONCE, $slowest);
        foreach ($workers as $worker) {
            $worker->kill();
        }
    }
}
