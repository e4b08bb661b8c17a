<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\Number;
use DelayQueue\Console\UsageException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** The options of consume() as options of a command. */
final class Limits
{
    public static function describe(Command $command): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $command
            ->addOption('max-jobs', null, $value, 'End after this many jobs; 0: no limit', '0')
            ->addOption('max-time', null, $value, 'End after this time: seconds, 1h, PT1H; 0: no limit', '0')
            ->addOption('memory-limit', null, $value, 'End when PHP uses more than this, such as 128M; 0: no limit', '0')
            ->addOption('timeout', null, $value, 'Time limit of one run of the handler, for jobs that have none of their own; 0: none', '1h')
            ->addOption('grace-timeout', null, $value, 'How long to wait for a stuck handler after its timeout or --shutdown-timeout', '5')
            ->addOption('shutdown-timeout', null, $value, 'How long after SIGTERM, SIGINT or SIGQUIT the job in hand may run; 0: to its end', '0')
            ->addOption('idle-timeout', null, $value, 'Seconds without a job after which a worker counts as idle', '5')
            ->addOption('stop-when-empty', null, InputOption::VALUE_NONE, 'End as soon as nothing is due')
            ->addOption('no-heartbeat', null, InputOption::VALUE_NONE, 'Do not renew leases while the handler runs')
            ->addOption('throw-on-cancel', null, InputOption::VALUE_NONE, 'Throw a CancelledException into a handler whose job is cancelled')
            ->addOption('prefetch', null, $value, 'How many jobs one round trip may take', '1');
        BatchOption::describe($command);
    }

    /** @return array<string, mixed> the named arguments of consume() */
    public static function of(InputInterface $input): array
    {
        $idle = $input->getOption('idle-timeout');
        if ($input->getOption('no-heartbeat') && $input->getOption('throw-on-cancel')) {
            throw new UsageException('--throw-on-cancel goes without --no-heartbeat: a worker hears that its job was cancelled when it renews the lease');
        }
        $batch = BatchOption::of($input);
        foreach ($batch === [] ? [] : ['prefetch' => '1', 'throw-on-cancel' => false] as $name => $none) {
            $input->getOption($name) === $none || throw new UsageException("--$name goes without --batch");
        }

        return $batch + [
            'maxJobs' => Number::of($input->getOption('max-jobs'), '--max-jobs'),
            'maxTime' => $input->getOption('max-time'),
            'memoryLimit' => $input->getOption('memory-limit'),
            'timeout' => $input->getOption('timeout'),
            'graceTimeout' => $input->getOption('grace-timeout'),
            'shutdownTimeout' => $input->getOption('shutdown-timeout'),
            'idleTimeout' => is_numeric($idle) ? (float) $idle : throw new UsageException('--idle-timeout must be a number of seconds'),
            'stopWhenEmpty' => $input->getOption('stop-when-empty'),
            'heartbeat' => !$input->getOption('no-heartbeat'),
            'throwOnCancel' => $input->getOption('throw-on-cancel'),
            'prefetch' => Number::of($input->getOption('prefetch'), '--prefetch', 1),
        ];
    }
}
