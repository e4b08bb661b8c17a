<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Event;
use DelayQueue\Psr\Clock;
use DelayQueue\Psr\EventBridge;
use DelayQueue\Psr\WorkerEvent;
use DelayQueue\Testing;
use RuntimeException;
use Symfony\Component\EventDispatcher\EventDispatcher;

final class PsrTest extends MessengerTestCase
{
    public function testADispatcherHearsOfTheEventsOfAWorker(): void
    {
        $heard = [];
        $dispatcher = new EventDispatcher();
        $dispatcher->addListener(WorkerEvent::class, static function (WorkerEvent $event) use (&$heard): void {
            $heard[] = [$event->event, $event->job?->id, $event->error?->getMessage()];
            self::assertSame($event->job !== null, is_float($event->seconds));
        });
        $queue = (new EventBridge($dispatcher))->connect($this->delayQueue('jobs'), Event::Succeeded, Event::Failed, Event::WorkerStopping);
        $queue->push(1, id: 'good');
        $queue->push(2, id: 'bad');
        $queue->consume(static fn ($job) => $job->id === 'good' ?: throw new RuntimeException('no'), stopWhenEmpty: true);

        $this->assertSame([Event::WorkerStopping, null, null], array_pop($heard));
        $this->assertContains([Event::Succeeded, 'good', null], $heard);
        $this->assertContains([Event::Failed, 'bad', 'no'], $heard);
        $this->assertCount(2, $heard);
    }

    public function testAClockFollowsTheTravelsOfATest(): void
    {
        if (!interface_exists(\Psr\Clock\ClockInterface::class)) {
            require __DIR__ . '/support/psr-clock.php'; // Debian 12 has no package of it.
        }
        $clock = new Clock();
        $ahead = static fn (): float => (float) $clock->now()->format('U.u') - microtime(true);
        $this->assertEqualsWithDelta(0.0, $ahead(), 30.0);
        $this->travel('1d');
        $this->assertEqualsWithDelta(86400.0, $ahead(), 30.0);
        $this->travelTo(new \DateTimeImmutable('2001-01-01 UTC'));
        $this->assertSame('2001-01-01', $clock->now()->setTimezone(new \DateTimeZone('UTC'))->format('Y-m-d'));
        Testing::travelBack();
        $this->assertEqualsWithDelta(0.0, $ahead(), 30.0);
    }
}
