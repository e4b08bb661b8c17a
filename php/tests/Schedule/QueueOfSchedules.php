<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Schedule;

use DateTimeImmutable;
use DelayQueue\QueueInterface;
use DelayQueue\Schedule\Runner;
use DelayQueue\Schedule\Schedules;
use DelayQueue\State;
use DelayQueue\Tests\OnAnyStore;

/** A queue of schedules on a Tuesday morning. */
trait QueueOfSchedules
{
    use OnAnyStore;

    private QueueInterface $queue;

    private Schedules $schedules;

    protected function setUp(): void
    {
        $this->travelTo(new DateTimeImmutable('2030-01-08 08:30:00 UTC'));
        $this->queue = $this->delayQueue('schedules');
        $this->schedules = new Schedules($this->queue);
    }

    private function clock(string $moment): void
    {
        $this->travelTo(new DateTimeImmutable("2030-01-08 $moment UTC"));
    }

    /** Lets one runner do all that is due. */
    private function runSchedules(int $expected = 1, ?Runner $runner = null): void
    {
        $this->assertSame($expected, $this->runDueJobs($runner ?? new Runner($this->queue), $this->queue));
    }

    /** @return list<string> the moments in the ids of the jobs that were pushed and not taken, in their order */
    private function pushed(string $queue = 'target'): array
    {
        $ids = [];
        foreach ([State::Ready, State::Delayed, State::Reserved] as $state) {
            foreach ($this->delayQueue($queue)->list($state) as $job) {
                $ids[] = preg_replace('/^.*@(?:2030-01-08T)?/', '', $job->id);
            }
        }
        sort($ids);

        return $ids;
    }

    private function nextOf(string $name): ?string
    {
        return $this->schedules->get($name)?->nextAt?->setTimezone(new \DateTimeZone('UTC'))->format('m-d H:i:s');
    }
}
