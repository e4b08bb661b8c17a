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
        $this->setDescription('Lists the jobs of one state, in their order, or those of them that a search finds')
            ->addArgument('state', InputArgument::REQUIRED, 'delayed, ready, reserved or buried')
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
                  delayqueue list buried --queue=orders
                  delayqueue list buried --all
                  delayqueue list ready --group=tenant-42 --queue=orders
                  delayqueue list buried --error=Timeout --since=2h --queue=orders
                TEXT . "\n\n" . Application::EXIT_CODES);
        SearchOptions::describe($this);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $state = States::of($input->getArgument('state'));
        $isSearch = SearchOptions::areGiven($input) || $input->getOption('dry-run');
        self::check($input, $state, $isSearch);
        $offset = Number::of($input->getOption('offset'), '--offset');
        $limit = Number::orNull($input->getOption('limit'), '--limit', 1) ?? self::MOST;
        $target = new Target($input);
        if ($input->getOption('all')) {
            self::ofAll($input, $output, $target, $state, $limit);

            return ExitCode::OK;
        }
        $queue = $target->queue();
        $search = $isSearch ? SearchOptions::search($input, $queue, [$state]) : null;
        $target->refuseUnknown($queue->name());
        $after = self::place($queue, $state, $input->getOption('after'));
        if ($search !== null) {
            $search = $after === null ? $search : $search->after($after);
            $work = new BulkWork($input, $output, $queue, [$state]);
            if ($input->getOption('dry-run')) {
                $format === Format::JSON
                    ? Format::json($output, ['jobs' => $work->pass($search->count(...))])
                    : $work->run($search, 'listed', $search->count(...));

                return ExitCode::OK;
            }
            [$jobs, $note] = self::found($search->limit($limit), $work, $queue, $state);
        } else {
            $jobs = $queue->list($state, $offset, $limit, $after, $input->getOption('group'));
            $isCut = count($jobs) === $limit && $format !== Format::JSON && $input->getOption('group') === null;
            $note = $isCut ? self::cut($offset, $queue->count($state), $jobs) : null;
        }
        self::print($output, $format, $jobs, $note);

        return ExitCode::OK;
    }

    /** @throws UsageException */
    private static function check(InputInterface $input, State $state, bool $isSearch): void
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
    private static function ofAll(InputInterface $input, OutputInterface $output, Target $target, State $state, int $limit): void
    {
        $target->refuseNames('--all is about all queues');
        if ($input->getOption('offset') !== '0' || $input->getOption('after') !== null || $input->getOption('group') !== null || $input->getOption('dry-run')) {
            throw new UsageException('--all takes no --offset, --after, --group and --dry-run');
        }
        $jobs = [];
        foreach ($target->anywhere()->queues() as $name) {
            $search = SearchOptions::search($input, $target->openWhole($name, $target->options()), [$state]);
            array_push($jobs, ...iterator_to_array($search->limit($limit + 1 - count($jobs)), false));
            if (count($jobs) > $limit) {
                break;
            }
        }
        $note = count($jobs) > $limit ? number_format($limit) . ' listed, and there are more: --limit, or --queue' : null;
        self::print($output, Format::of($input), array_slice($jobs, 0, $limit), $note, hasQueues: true);
    }

    /** @return array{list<JobInfo>, string} the jobs, and how far the search has come */
    private static function found(Search $search, BulkWork $work, DelayQueue $queue, State $state): array
    {
        $jobs = [];
        $work->pass(static function (callable $progress) use ($search, &$jobs): int {
            foreach ($search as $job) {
                $jobs[] = $job;
                $progress(count($jobs), $search->read());
            }

            return count($jobs);
        });
        $read = number_format($search->read()) . ' of ' . number_format(max($queue->count($state), $search->read()));
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

    /** @param list<JobInfo> $jobs */
    private static function print(OutputInterface $output, string $format, array $jobs, ?string $note, bool $hasQueues = false): void
    {
        if ($format === Format::JSON) {
            Format::json($output, array_map(JobView::toArray(...), $jobs));

            return;
        }
        $heads = [...$hasQueues ? ['queue'] : [], 'id', 'group', 'due', 'attempts', 'priority', 'payload', 'last error'];
        $rows = array_map(static fn (JobInfo $job): array => [...$hasQueues ? [$job->queue] : [], ...self::row($job)], $jobs);
        $jobs === [] || Format::table($output, $heads, $rows);
        $note === null || Format::line($output, $note);
    }

    /** Of --after, which names a job, or a place where it may have gone meanwhile. */
    private static function place(DelayQueue $queue, State $state, ?string $after): ?string
    {
        if ($after === null) {
            return null;
        }
        $job = $queue->peek($after);
        if ($job === null && Position::parse($after)?->state() !== $state) {
            throw new NothingDone("there is no job $after in queue {$queue->name()}");
        }
        if ($job !== null && $job->state !== $state) {
            throw new NothingDone("job $after is {$job->state->value}, not $state->value");
        }

        return $job?->place() ?? $after;
    }

    /** @return list<string> */
    private static function row(JobInfo $job): array
    {
        return [
            $job->id, $job->group ?? '', Text::momentAndDistance($job->dueAt), "$job->attempts", "$job->priority",
            Text::short($job->sealError === null ? $job->body : "($job->sealError)", 40), Text::short($job->lastError ?? '', 60),
        ];
    }
}
