<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\Number;
use DelayQueue\Console\UsageException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** The options with which a handler gets many jobs in one call. */
final class BatchOption
{
    private const MOST_JOBS = 500;

    public static function describe(Command $command): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $command
            ->addOption('batch', null, $value, 'The handler gets a list of up to this many jobs of one queue')
            ->addOption('within', null, $value, 'How long a batch waits for more jobs: seconds, 200ms', '0');
    }

    /**
     * @return array{batch?: int, within?: string} the named arguments of consume(); none without --batch
     *
     * @throws UsageException
     */
    public static function of(InputInterface $input): array
    {
        [$batch, $within] = [$input->getOption('batch'), $input->getOption('within')];
        if ($batch === null) {
            return $within === '0' ? [] : throw new UsageException('--within is for --batch');
        }

        return ['batch' => Number::of($batch, '--batch', 1, self::MOST_JOBS), 'within' => $within];
    }
}
