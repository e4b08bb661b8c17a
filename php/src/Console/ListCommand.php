<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\JobInfo;
use DelayQueue\Search\Position;
use DelayQueue\Search\Search;
use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class ListCommand extends Command
{
    private const MOST = 100;

    public function __construct()
    {
        parent::__construct('list');
    }

    protected function configure(): void
    {
        $this->setDescription('Lists the jobs of a queue, or of one state, or those of them that a search finds')
            ->addArgument('state', InputArgument::OPTIONAL, 'delayed, ready, reserved or buried; none: all of them')
            ->addOption('all', null, InputOption::VALUE_NONE, 'Of all queues under the prefix, by their names')
            ->addOption('offset', null, InputOption::VALUE_REQUIRED, 'How many jobs to skip', '0')
            ->addOption(
                'after',
                null,
                InputOption::VALUE_REQUIRED,
                'Begin behind this job, or where the end of an earlier list says; --offset counts from there',
            )
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'How many jobs to list at most; without it ' . self::MOST)
            ->addOption('group', null, InputOption::VALUE_REQUIRED, 'Only the jobs of this group, in the order of the group')
            ->setHelp(<<<'TEXT'
                  delayqueue list --queue=orders
                  delayqueue list buried --queue=orders
                  delayqueue list buried --all
                  delayqueue list ready --group=tenant-42 --queue=orders
                  delayqueue list buried --error=Timeout --since=2h --queue=orders

                Without a state the order is delayed, ready, reserved, buried.
                TEXT . "\n\n" . Application::EXIT_CODES);
        SearchOptions::describe($this);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $state = $input->getArgument('state') === null ? null : States::of($input->getArgument('state'));
        $isSearch = SearchOptions::areGiven($input) || $input->getOption('dry-run');
        self::check($input, $state, $isSearch);
        $offset = Number::of($input->getOption('offset'), '--offset');
        $limit = Number::orNull($input->getOption('limit'), '--limit', 1) ?? self::MOST;
        $target = new Target($input);
        $list = new JobList($output, $format, $state, $input->getOption('all'));
        if ($input->getOption('all')) {
            self::ofAll($input, $list, $target, $limit);

            return ExitCode::OK;
        }
        $queue = $target->queue();
        $search = $isSearch ? SearchOptions::search($input, $queue, $list->states()) : null;
        $target->refuseUnknown($queue->name());
        $after = self::place($queue, $state, $input->getOption('after'));
        if ($search === null) {
            $group = $input->getOption('group');
            $jobs = self::page($queue, $list->states(), $offset, $limit, $after, $group);
            $isCut = count($jobs) === $limit && $group === null;
            $which = $group === null ? '' : "of group $group ";
            $which .= $offset > 0 || $after !== null ? 'behind that ' : '';
            $note = $isCut ? self::cut($offset, $list->count($queue), $jobs) : null;
            $list->print($jobs, $note, "{$which}in queue {$queue->name()}");

            return ExitCode::OK;
        }
        $search = $after === null ? $search : $search->after($after);
        $work = new BulkWork($input, $output, $queue, $list->states());
        if (!$input->getOption('dry-run')) {
            $list->print(...self::found($search->limit($limit), $work, $list->count($queue)));
        } elseif ($format === Format::JSON) {
            Format::json($output, ['jobs' => $work->pass($search->count(...))]);
        } else {
            $work->run($search, 'listed', $search->count(...));
        }

        return ExitCode::OK;
    }

    /** @throws UsageException */
    private static function check(InputInterface $input, ?State $state, bool $isSearch): void
    {
        $hasGroup = $input->getOption('group') !== null;
        if ($hasGroup && $input->getOption('after') !== null) {
            throw new UsageException('give --group or --after, not both');
        }
        if ($hasGroup && $state === State::Buried) {
            throw new UsageException('a group does not know its buried jobs: list them without --group');
        }
        if ($isSearch && ($hasGroup || $input->getOption('offset') !== '0')) {
            throw new UsageException('a search takes no --group and no --offset; --after goes on behind a job');
        }
    }

    /** @throws UsageException for what is about one queue */
    private static function ofAll(InputInterface $input, JobList $list, Target $target, int $limit): void
    {
        $target->refuseNames('--all is about all queues');
        if ($input->getOption('offset') !== '0' || $input->getOption('after') !== null || $input->getOption('group') !== null || $input->getOption('dry-run')) {
            throw new UsageException('--all takes no --offset, --after, --group and --dry-run');
        }
        $jobs = [];
        foreach ($target->anywhere()->queues() as $name) {
            $search = SearchOptions::search($input, $target->openWhole($name, $target->options()), $list->states());
            array_push($jobs, ...iterator_to_array($search->limit($limit + 1 - count($jobs)), false));
            if (count($jobs) > $limit) {
                break;
            }
        }
        $note = count($jobs) > $limit ? number_format($limit) . ' listed, and there are more: --limit, or --queue' : null;
        $list->print(array_slice($jobs, 0, $limit), $note, 'in any queue');
    }

    /**
     * @param non-empty-list<State> $states
     * @param string|null $after a place in one of these states, behind which it begins
     *
     * @return list<JobInfo>
     */
    private static function page(
        DelayQueue $queue,
        array $states,
        int $offset,
        int $limit,
        ?string $after,
        ?string $group,
    ): array {
        if (count($states) === 1) {
            return $queue->list($states[0], $offset, $limit, $after, $group);
        }
        $first = $after === null ? null : Position::parse($after)?->state();
        $states = array_slice($states, (int) array_search($first, $states, true));
        $most = min($offset, PHP_INT_MAX - $limit) + $limit;
        $jobs = [];
        foreach ($states as $state) {
            // A group does not know its buried jobs.
            if (count($jobs) < $most && ($group === null || $state !== State::Buried)) {
                $begin = $state === $first ? $after : null;
                array_push($jobs, ...$queue->list($state, 0, $most - count($jobs), $begin, $group));
            }
        }

        return array_slice($jobs, $offset);
    }

    /** @return array{list<JobInfo>, string} the jobs, and how far the search has come */
    private static function found(Search $search, BulkWork $work, int $all): array
    {
        $jobs = [];
        $work->pass(static function (callable $progress) use ($search, &$jobs): int {
            foreach ($search as $job) {
                $jobs[] = $job;
                $progress(count($jobs), $search->read());
            }

            return count($jobs);
        });
        $read = number_format($search->read()) . ' of ' . number_format(max($all, $search->read()));
        $next = $search->next() === null ? '' : "; go on with --after={$search->next()}";

        return [$jobs, number_format(count($jobs)) . " found, $read jobs read$next"];
    }

    /** @param non-empty-list<JobInfo> $jobs */
    private static function cut(int $offset, int $all, array $jobs): ?string
    {
        if ($all <= $offset + count($jobs)) {
            return null;
        }

        $next = end($jobs)->place();

        return number_format(count($jobs)) . ' of ' . number_format($all) . "; go on with --after=$next";
    }

    /** Of --after, which names a job, or a place where it may have gone meanwhile. */
    private static function place(DelayQueue $queue, ?State $state, ?string $after): ?string
    {
        if ($after === null) {
            return null;
        }
        $job = $queue->peek($after);
        $found = $job?->state ?? Position::parse($after)?->state();
        if ($found === null) {
            throw new NothingDone("there is no job $after in queue {$queue->name()}");
        }
        if ($state !== null && $found !== $state) {
            throw new NothingDone("job $after is $found->value, not $state->value");
        }

        return $job?->place() ?? $after;
    }
}
