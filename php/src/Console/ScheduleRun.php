<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Closure;
use DelayQueue\Console\Database\FailureLog;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\Schedule\Runner;
use DelayQueue\StopReason;
use Symfony\Component\Console\Input\InputInterface;
use Throwable;

/** The runner of schedules beside the workers of a pool. */
final class ScheduleRun
{
    public function __construct(private readonly InputInterface $input, private readonly Notices $notices)
    {
    }

    /**
     * @param Closure(): bool $stop whether it is to end
     * @param Closure(): void $ready
     */
    public function besideWorkers(Closure $stop, Closure $ready): void
    {
        $target = new Target($this->input);
        $failures = new FailureLog($this->notices, 'scheduleFailed');
        $queue = $target->open($this->input->getOption('schedules-queue'));
        $queue->on(Event::WorkerReady, static fn () => $ready());
        foreach ([Event::ConnectionLost, Event::Buried] as $event) {
            $queue->on($event, static function (Event $event, ?Job $job, ?Throwable $error) use ($failures): void {
                $error === null || $failures->add($job === null ? 'the schedules wait for Redis' : "job $job->id is buried", $error);
            });
        }
        foreach ([Event::Idle, Event::ConnectionLost] as $event) {
            $queue->on($event, static fn () => $stop() && $queue->stop());
        }
        $runner = new Runner($queue, $target->open(...), $failures->add(...), fn (string $what) => $this->notices->say('scheduleLeftOut', $what));
        do {
            // It serves the workers: orders to them, and a Ctrl-C, which the pool hears as well, do not end it.
            $reason = $queue->consume($runner, prefetch: Runner::PREFETCH);
        } while (!$stop() && $reason !== StopReason::Restart);
    }
}
