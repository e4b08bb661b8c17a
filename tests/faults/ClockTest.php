<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\LeaseLostException;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Shim;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Remote;
use DelayQueue\Tests\Support\Wait;

/**
 * The clock of Redis' host is set while workers wait.
 *
 * @group quick
 */
final class ClockTest extends FaultTestCase
{
    private const HOUR = 3_600_000_000;

    private Folder $folder;

    private Shim $clock;

    private Remote $worker;

    protected function setUp(): void
    {
        $this->folder = new Folder();
        $this->clock = new Shim('offsetclock', $this->folder);
        $this->setup = new Single(launcher: $this->clock->launcher());
        $this->worker = new Remote($this->setup->dsn(), self::QUEUE);
    }

    protected function tearDown(): void
    {
        $this->worker->kill();
        parent::tearDown();
        $this->folder->remove();
    }

    public function testSetForwardLeasesEndAndWaitingWorkersFindWhatIsDue(): void
    {
        $queue = $this->queue();
        $held = $queue->reserveJob($queue->push('held', id: 'held', ttr: '10m'));
        $queue->push('later', '30m', id: 'later');
        $this->worker->begin('reserve', 15);
        $this->untilItWaits();
        $this->clock->set(self::HOUR);

        $first = $this->worker->outcome();
        $this->assertContains($first['result']['id'] ?? null, ['held', 'later']);
        $this->assertLessThan(7.0, Machine::without($first['seconds']), 'an idle worker checks every five seconds');
        $this->worker->call('ack');
        $this->assertContains($this->worker->call('reserve')['id'] ?? null, ['held', 'later']);
        $this->worker->call('ack');
        $this->expectException(LeaseLostException::class);
        $held->ack();
    }

    public function testSetBackNewJobsAreServedAndNoWaitHangs(): void
    {
        $queue = $this->queue();
        $queue->push('before', 2, id: 'before');
        $this->worker->begin('reserve', 1.5);
        $this->untilItWaits();
        $this->clock->set(-2 * self::HOUR);
        $outcome = $this->worker->outcome();
        $this->assertNull($outcome['result']);
        $this->assertLessThan(10, Machine::without($outcome['seconds']), 'the timeout does not count by that clock');

        foreach ([0, 0.5] as $delay) {
            $this->worker->begin('reserve', 10);
            $this->untilItWaits();
            $queue->push('after', $delay, id: "after $delay");
            $outcome = $this->worker->outcome();
            $this->assertSame("after $delay", $outcome['result']['id'] ?? null);
            $this->assertLessThan($delay + 3.0, Machine::without($outcome['seconds']));
            $this->worker->call('ack');
        }
        $this->assertNull($queue->reserve(), 'a job keeps its moment');
        $this->clock->set(0);
        $this->assertSame('before', $this->worker->call('reserve', 10)['id'] ?? null);
    }

    public function testTheDoctorNamesAClockThatDiffers(): void
    {
        $this->clock->set(self::HOUR);
        $findings = array_column($this->queue()->doctor(), 'level', 'check');
        $this->assertSame('error', $findings['clock']);
    }

    private function untilItWaits(): void
    {
        $node = $this->setup->node();
        Wait::until(static fn () => $node->ask('ZCARD', 'dq:{' . self::QUEUE . '}:waiters') === 1, 5, 'the worker waits');
    }
}
