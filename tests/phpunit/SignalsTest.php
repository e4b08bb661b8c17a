<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Wait;

/** Signals reach a consumer that waits in reserve(): handlers run at once, and the wait does what they want. */
final class SignalsTest extends ProcessTestCase
{
    /** A waiter looks by itself after four seconds at the earliest: whatever is faster was woken. */
    private const AT_ONCE = 3.0;

    private Process $waiter;

    /** @dataProvider modes */
    #[\PHPUnit\Framework\Attributes\DataProvider('modes')]
    public function testAHandlerThatCallsStopEndsTheWait(string $mode): void
    {
        $this->startWaiting($mode, 'stop');
        $this->waiter->signal(SIGTERM);
        [$outcome, $handled, $seconds] = $this->outcome();
        $this->assertSame(['nothing', 1], [$outcome, $handled]);
        $this->assertLessThan(5, Machine::without($seconds), 'long before its timeout');
        $this->assertSame(0, $this->redis->waiters($this->queueName), 'it told the queue that it is gone');

        $this->queue()->push('next');
        $this->waiter->say('reserve');
        $this->assertSame('job next', $this->outcome()[0], 'stop() ends one wait');
    }

    /** @dataProvider modes */
    #[\PHPUnit\Framework\Attributes\DataProvider('modes')]
    public function testAHandlerThatOnlyCountsDoesNotEndTheWaitNorLoseAWakeUp(string $mode): void
    {
        $this->startWaiting($mode, 'count');
        $before = $this->redis->clients($this->waiter->pid);
        $this->waiter->signal(SIGALRM);
        $this->waiter->signal(SIGUSR1);
        $pushed = microtime(true);
        $this->queue()->push('here');
        [$outcome, $handled] = $this->outcome();
        $this->assertSame('job here', $outcome);
        $this->assertLessThan(self::AT_ONCE, Machine::lasted($pushed));
        $this->assertLessThanOrEqual(2, $handled);
        $this->assertSame($before, $this->redis->clients($this->waiter->pid), 'the connection is still the same');
    }

    /** @dataProvider modes */
    #[\PHPUnit\Framework\Attributes\DataProvider('modes')]
    public function testASignalDoesNotShortenTheTimeout(string $mode): void
    {
        foreach (['count' => 1, 'ignore' => 0] as $reaction => $times) {
            $this->startWaiting($mode, $reaction, '0.6');
            $this->waiter->signal(SIGALRM);
            [$outcome, $handled, $seconds] = $this->outcome();
            $this->assertSame(['nothing', $times], [$outcome, $handled]);
            $this->assertGreaterThanOrEqual(0.6, $seconds);
            $this->assertLessThan(0.6 + self::AT_ONCE, Machine::without($seconds));
        }
    }

    /** @dataProvider modes */
    #[\PHPUnit\Framework\Attributes\DataProvider('modes')]
    public function testWhatAHandlerThrowsLeavesReserve(string $mode): void
    {
        $this->startWaiting($mode, 'throw');
        $this->waiter->signal(SIGUSR1);
        [$outcome, $handled, $seconds] = $this->outcome();
        $this->assertSame(['RuntimeException signal ' . SIGUSR1, 1], [$outcome, $handled]);
        $this->assertLessThan(5, Machine::without($seconds));
        $this->assertSame(0, $this->redis->waiters($this->queueName));

        $this->queue()->push('next');
        $this->waiter->say('reserve');
        $this->assertSame('job next', $this->outcome()[0], 'the queue is usable afterwards');
    }

    /** @dataProvider modes */
    #[\PHPUnit\Framework\Attributes\DataProvider('modes')]
    public function testAHandlerMayExit(string $mode): void
    {
        $this->startWaiting($mode, 'exit');
        $this->waiter->signal(SIGTERM);
        $this->assertSame("shut down\n", $this->waiter->rest());
        $this->assertSame(3, $this->waiter->exitCode());
        $this->assertSame('', $this->waiter->errors());
        $this->assertSame(0, $this->redis->waiters($this->queueName));
    }

    /** @dataProvider modes */
    #[\PHPUnit\Framework\Attributes\DataProvider('modes')]
    public function testAHandlerMayPushToTheQueueItInterrupts(string $mode): void
    {
        $this->startWaiting($mode, 'push');
        $this->waiter->signal(SIGALRM);
        [$outcome, $handled, $seconds] = $this->outcome();
        $this->assertSame(['job pushed by handler 1', 1], [$outcome, $handled]);
        $this->assertLessThan(self::AT_ONCE, Machine::without($seconds));
    }

    /** @dataProvider modes */
    #[\PHPUnit\Framework\Attributes\DataProvider('modes')]
    public function testAHandlerMayCloseTheConnectionItInterrupts(string $mode): void
    {
        $this->startWaiting($mode, 'close');
        $this->waiter->signal(SIGALRM);
        $this->queue()->push('here');
        [$outcome] = $this->outcome();
        $this->assertSame('job here', $outcome);
    }

    public function testWithoutAHandlerTheSignalEndsTheProcess(): void
    {
        $this->startWaiting('async', 'default');
        $this->waiter->signal(SIGTERM);
        $this->assertSame(SIGTERM, $this->waiter->endedBy());
        $this->assertSame('', $this->waiter->errors());
    }

    /** @dataProvider modes */
    #[\PHPUnit\Framework\Attributes\DataProvider('modes')]
    public function testAStormOfSignalsLosesNoJobAndDelaysNone(string $mode): void
    {
        $this->startWaiting($mode, 'count');
        $before = $this->redis->clients($this->waiter->pid);
        $queue = $this->queue();
        $slowest = 0.0;
        for ($n = 0; $n < 60; $n++) {
            if ($n > 0) {
                $this->waiter->say('reserve');
            }
            for ($signal = 0; $signal < $n % 7; $signal++) {
                $this->waiter->signal([SIGALRM, SIGUSR1, SIGTERM][$signal % 3]);
                usleep(200);
            }
            $queue->push($n, delay: $n % 2 === 0 ? 0 : 0.005);
            $this->waiter->signal(SIGALRM);
            [$outcome, $handled, $seconds] = $this->outcome();
            $this->assertSame("job $n", $outcome);
            $slowest = max($slowest, Machine::without($seconds));
        }
        $this->assertGreaterThan(60, $handled);
        $this->assertLessThan(self::AT_ONCE, $slowest);
        $this->assertSame($before, $this->redis->clients($this->waiter->pid));
        $this->assertSame(0, $queue->count());
    }

    public function testAWaiterThatLeavesHandsItsWakeUpOn(): void
    {
        $this->startWaiting('async', 'stop');
        $other = $this->remote();
        $other->begin('reserve', 30);
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 2, 5, 'two wait');
        for ($round = 0; $round < 20; $round++) {
            $this->waiter->signal(SIGTERM);
            $this->queue()->push($round);
            [$mine] = $this->outcome();
            if ($mine === 'nothing') {
                $outcome = $other->outcome();
                $this->assertSame($round, $outcome['result']['payload']);
                $other->call('ack');
                $other->begin('reserve', 30);
            } else {
                // Signal and job came together: the job is taken, and stop() ends the next wait.
                $this->assertSame("job $round", $mine);
                $this->waiter->say('reserve');
                $this->assertSame('nothing', $this->outcome()[0]);
            }
            $this->waiter->say('reserve');
            $woken = microtime(true);
            Wait::until(fn () => $this->redis->waiters($this->queueName) === 2, 5, 'two wait again');
            $this->assertLessThan(self::AT_ONCE, Machine::lasted($woken));
        }
        $other->kill();
    }

    /** @return array<string, array{string}> */
    public static function modes(): array
    {
        return ['asynchronous' => ['async'], 'dispatched' => ['sync']];
    }

    private function startWaiting(string $mode, string $reaction, string ...$timeout): void
    {
        $this->waiter = Php::program('signals.php', $this->redis->dsn(), $this->queueName, $mode, $reaction, ...$timeout);
        $this->waiter->hear('ready');
        $this->waiter->say('reserve');
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 5, 'it waits');
    }

    /** @return array{string, int, float} what it got, how many signals it has handled, how long it took */
    private function outcome(): array
    {
        [$outcome, $handled, $seconds] = explode('; ', $this->waiter->line());

        return [$outcome, (int) $handled, (float) $seconds];
    }
}
