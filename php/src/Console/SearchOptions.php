<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DateTimeInterface;
use DelayQueue\Internal\Moment as InternalMoment;
use DelayQueue\InvalidArgument;
use DelayQueue\QueueInterface;
use DelayQueue\Search\Search;
use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** The options by which commands choose jobs. */
final class SearchOptions
{
    private const WORDS = ['tag', 'where', 'header', 'error', 'since', 'due-after', 'due-before'];

    public static function describe(Command $command): void
    {
        [$value, $values] = [InputOption::VALUE_REQUIRED, InputOption::VALUE_REQUIRED | InputOption::VALUE_IS_ARRAY];
        $command->addOption('tag', null, $values, 'Jobs with this tag; given again: with all of them')
            ->addOption('where', null, $values, 'Jobs whose payload has this in it')
            ->addOption('header', null, $values, "Jobs with this header: 'name: value'")
            ->addOption('error', null, $values, 'Jobs whose last error has this in it')
            ->addOption('since', null, $value, 'Jobs that were pushed since, or buried if they are: 2h for the last two hours, or a moment such as yesterday')
            ->addOption('due-after', null, $value, 'Jobs that are due then or later: 2h for in two hours, or a moment such as "tomorrow 9:00"')
            ->addOption('due-before', null, $value, 'Jobs that are due before that')
            ->addOption('dry-run', null, InputOption::VALUE_NONE, 'Only say how many jobs there are');
    }

    /** For commands that have no argument or option of these names. */
    public static function describeStates(Command $command, string $usual): void
    {
        $values = InputOption::VALUE_REQUIRED | InputOption::VALUE_IS_ARRAY;
        $command->addOption('state', null, $values, "Jobs in this state: delayed, ready, reserved or buried; without it: $usual")
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'At most so many of the jobs that are found');
    }

    /** Whether some jobs are chosen; --dry-run and --limit choose none. */
    public static function areGiven(InputInterface $input): bool
    {
        foreach ([...self::WORDS, ...($input->hasOption('state') ? ['state'] : [])] as $word) {
            if ($input->getOption($word) !== null && $input->getOption($word) !== []) {
                return true;
            }
        }

        return false;
    }

    /** @throws UsageException when jobs are named by their ids, and such an option would be ignored */
    public static function refuse(InputInterface $input): void
    {
        foreach ([...self::WORDS, 'state', 'limit', 'dry-run'] as $word) {
            if ($input->hasOption($word) && $input->getOption($word) !== null && $input->getOption($word) !== [] && $input->getOption($word) !== false) {
                throw new UsageException("--$word goes with a search: with --tag, --where, --header, --error, --since, --due-after, --due-before or --state");
            }
        }
    }

    /**
     * @return list<State> of --state
     *
     * @throws UsageException when there is no such state
     */
    public static function states(InputInterface $input): array
    {
        return array_map(States::of(...), $input->getOption('state'));
    }

    /**
     * The jobs that the options choose, of those in these states.
     *
     * @param list<State> $states
     *
     * @throws UsageException
     */
    public static function search(InputInterface $input, QueueInterface $queue, array $states): Search
    {
        $limit = Number::orNull($input->getOption('limit'), '--limit', 1);
        $search = Search::in($queue, ...$states);
        $headers = Headers::parse($input->getOption('header'));
        $narrow = [
            'tag' => static fn (Search $search, string $tag): Search => $search->tag($tag),
            'where' => static fn (Search $search, string $part): Search => $search->payload($part),
            'header' => static fn (Search $search, string $name): Search => $search->header($name, $headers[$name]),
            'error' => static fn (Search $search, string $part): Search => $search->error($part),
        ];
        foreach ($narrow as $option => $with) {
            foreach ($option === 'header' ? array_keys($headers) : $input->getOption($option) as $word) {
                try {
                    $search = $with($search, (string) $word);
                } catch (InvalidArgument $error) {
                    throw new UsageException("--$option $error->reason", 0, $error);
                }
            }
        }
        $search = $limit === null ? $search : $search->limit($limit);
        $since = self::moment($input, $queue, 'since', -1);
        [$from, $until] = [self::moment($input, $queue, 'due-after', 1), self::moment($input, $queue, 'due-before', 1)];
        if ($from !== null && $until !== null && $from >= $until) {
            throw new UsageException('--due-before must be later than --due-after');
        }
        $search = $since === null ? $search : $search->since($since);

        return $from === null && $until === null ? $search : $search->dueBetween($from, $until);
    }

    /** @param int $direction of a duration: 1 from now on, -1 back */
    private static function moment(InputInterface $input, QueueInterface $queue, string $option, int $direction): ?DateTimeInterface
    {
        $moment = Moment::orDuration($input->getOption($option), $option);

        return is_string($moment) ? InternalMoment::of($queue->now() + $direction * Duration::of($moment, "--$option")) : $moment;
    }
}
