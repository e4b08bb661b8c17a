<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use Closure;
use DelayQueue\Console\Database\RelayRun;
use DelayQueue\Console\ScheduleQueue;
use DelayQueue\Console\ScheduleRun;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/**
 * The task of one process beside the workers of a pool, for all of them. Each role but the gauge is an option of the command. Such a process may be
 * killed at any time, and two of one role may run.
 */
enum Role: string
{
    /** Beside workers that follow the load: it measures that. */
    case Gauge = 'gauge';
    case Relay = 'relay';
    case Schedules = 'schedules';

    /** Gives the command an option for each role. */
    public static function describe(Command $command): void
    {
        foreach (self::cases() as $role) {
            $role === self::Gauge || $command->addOption($role->value, null, InputOption::VALUE_NONE, $role->help());
        }
        $command->addOption('schedules-queue', null, InputOption::VALUE_REQUIRED, 'With --schedules: the queue of schedules', ScheduleQueue::NAME);
    }

    /** @return list<self> those that the command line asks for */
    public static function of(InputInterface $input): array
    {
        $isAsked = static fn (self $role): bool => match ($role) {
            self::Gauge => Processes::of($input)->isRange(),
            default => $input->getOption($role->value),
        };

        return array_values(array_filter(self::cases(), $isAsked));
    }

    /**
     * Does it, in the process that the pool has started for it.
     *
     * @param Closure(): bool $stop whether it is to end
     * @param Closure(): void $ready is to be called once it works
     * @param Closure(string): void $tell gives the parent what the gauge has measured
     */
    public function run(InputInterface $input, Notices $notices, Closure $stop, Closure $ready, Closure $tell): void
    {
        match ($this) {
            self::Gauge => (new Gauge($input, $notices))->run($stop, $ready, $tell),
            self::Relay => (new RelayRun($input, $notices))->besideWorkers($stop, $ready),
            self::Schedules => (new ScheduleRun($input, $notices))->besideWorkers($stop, $ready),
        };
    }

    private function help(): string
    {
        return match ($this) {
            self::Gauge => '',
            self::Relay => 'Also bring the rows of the outbox to Redis, in one process beside the workers; needs --database',
            self::Schedules => 'Also push the jobs of the schedules, in one process beside the workers',
        };
    }
}
