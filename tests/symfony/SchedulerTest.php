<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\Clock\MockClock;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Message\RedispatchMessage;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Scheduler\Generator\MessageGenerator;
use Symfony\Component\Scheduler\Messenger\SchedulerTransport;
use Symfony\Component\Scheduler\RecurringMessage;
use Symfony\Component\Scheduler\Schedule;

/** Symfony's Scheduler, whose messages go on to this transport. */
final class SchedulerTest extends MessengerTestCase
{
    public function testAMessageOfTheSchedulerGoesOnToATransport(): void
    {
        if (!class_exists(RedispatchMessage::class)) {
            $this->assertFalse(class_exists(Schedule::class), 'neither is in versions before 6.3');

            return;
        }
        $message = new RedispatchMessage(new Envelope(new Work('nightly'), [new DelayStamp(600_000), new DelayQueueStamp('nightly')]), 'orders');
        foreach ($this->scheduled($message) as $envelope) {
            $this->service('test.bus')->dispatch($envelope->getMessage());
        }
        $this->assertDelayed('nightly', 'orders', 600);
        $this->assertSame(1, $this->jobs('orders')->count());
    }

    /** @return iterable<Envelope> the message, as the Scheduler's transport gives it, where that component is installed */
    private function scheduled(object $message): iterable
    {
        if (!class_exists(Schedule::class)) {
            return [new Envelope($message)];
        }
        $clock = new MockClock('2030-03-11 03:00', 'UTC');
        $transport = new SchedulerTransport(new MessageGenerator((new Schedule())->add(RecurringMessage::every('1 day', $message)), 'default', $clock));
        $this->assertSame([], self::received($transport->get()));
        $clock->modify('+1 day');

        return self::received($transport->get());
    }
}
