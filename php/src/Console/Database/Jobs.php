<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DateTimeInterface;
use DelayQueue\Console\Duration;
use DelayQueue\Console\Moment;
use DelayQueue\Console\Number;
use DelayQueue\Console\Target;
use DelayQueue\Console\UsageException;
use DelayQueue\Database\JobRecord;
use DelayQueue\Database\Journal;
use DelayQueue\Internal\Moment as InternalMoment;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** Which jobs of the journal a command lists. */
final class Jobs
{
    public static function describe(Command $command): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $command
            ->addOption('state', null, $value, 'Only jobs of this state: ' . implode(', ', JobRecord::STATES))
            ->addOption('since', null, $value, 'Only jobs of which the journal has heard since: 2h for the last two hours, or a moment such as yesterday')
            ->addOption('limit', null, $value, 'How many jobs to list at most', '100');
    }

    /**
     * @return list<JobRecord> the newest first
     *
     * @throws UsageException
     */
    public static function of(InputInterface $input, ?string $contains = null): array
    {
        $limit = Number::of($input->getOption('limit'), '--limit', 1);
        $state = self::state($input, JobRecord::STATES);
        $since = self::since($input->getOption('since'));
        $queue = (new Target($input))->nameOrAll();

        return (new Journal((new Database($input))->connection()))->search($queue, $state, $since, $contains, $limit);
    }

    /**
     * The value of --state.
     *
     * @param list<string> $known
     *
     * @throws UsageException when it is not one of them
     */
    public static function state(InputInterface $input, array $known): ?string
    {
        $state = $input->getOption('state');

        return $state === null || in_array($state, $known, true) ? $state : throw new UsageException("--state=$state is unknown: it is one of " . implode(', ', $known));
    }

    private static function since(?string $text): ?DateTimeInterface
    {
        $since = Moment::orDuration($text, 'since');

        return is_string($since) ? InternalMoment::of(microtime(true) - Duration::of($since, '--since')) : $since;
    }
}
