<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\JobInfo;
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
            ->addOption('offset', null, InputOption::VALUE_REQUIRED, 'How many jobs to skip', '0')
            ->addOption('after', null, InputOption::VALUE_REQUIRED, 'Begin behind this job; --offset counts from there')
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'How many jobs to list at most; without it ' . self::MOST)
            ->addOption('group', null, InputOption::VALUE_REQUIRED, 'Only the jobs of this group, in the order of the group')
            ->setHelp("  delayqueue list buried --queue=orders\n  delayqueue list ready --group=tenant-42 --queue=orders\n  delayqueue list buried --error=Timeout --since=2h --queue=orders\n\n" . Application::EXIT_CODES);
        SearchOptions::describe($this);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $state = States::of($input->getArgument('state'));
        if ($input->getOption('group') !== null && $input->getOption('after') !== null) {
            throw new UsageException('give --group or --after, not both');
        }
        if ($input->getOption('group') !== null && $state === State::Buried) {
            throw new UsageException('a group does not know its buried jobs: list them without --group');
        }
        $isSearch = SearchOptions::areGiven($input) || $input->getOption('dry-run');
        if ($isSearch && ($input->getOption('group') !== null || $input->getOption('offset') !== '0')) {
            throw new UsageException('a search takes no --group and no --offset; --after goes on behind a job');
        }
        $offset = Number::of($input->getOption('offset'), '--offset');
        $limit = Number::orNull($input->getOption('limit'), '--limit', 1) ?? self::MOST;
        $target = new Target($input);
        $queue = $target->queue();
        $search = $isSearch ? SearchOptions::search($input, $queue, [$state]) : null;
        $target->refuseUnknown($queue->name());
        $after = self::job($queue, $state, $input->getOption('after'));
        if ($search !== null) {
            $work = new BulkWork($input, $output, $queue, [$state]);
            $search = $after === null ? $search : $search->after($after);
            if ($input->getOption('dry-run')) {
                $work->run($search, 'listed', $search->count(...));

                return ExitCode::OK;
            }
            $search = $search->limit($limit);
            $jobs = [];
            $work->pass(static function (callable $progress) use ($search, &$jobs): int {
                foreach ($search as $job) {
                    $jobs[] = $job;
                    $progress(count($jobs), $search->read());
                }

                return count($jobs);
            });
        } else {
            $jobs = $queue->list($state, $offset, $limit, $after, $input->getOption('group'));
        }
        if ($format === Format::JSON) {
            Format::json($output, array_map(JobView::toArray(...), $jobs));
        } elseif ($jobs !== []) {
            Format::table($output, ['id', 'group', 'due', 'attempts', 'priority', 'payload', 'last error'], array_map(self::row(...), $jobs));
        }
        if ($format !== Format::JSON && $input->getOption('group') === null) {
            $note = $search === null ? self::rest(count($jobs), $limit, $offset, $queue->count($state)) : self::found($search, count($jobs), $queue->count($state));
            $note === null || Format::line($output, $note);
        }

        return ExitCode::OK;
    }

    /** Of a list that ends at its limit. */
    private static function rest(int $listed, int $limit, int $offset, int $all): ?string
    {
        return $listed === $limit && $all > $offset + $listed ? number_format($listed) . ' of ' . number_format($all) : null;
    }

    /** How far a search has come. */
    private static function found(Search $search, int $found, int $all): string
    {
        $read = number_format($search->read()) . ' of ' . number_format(max($all, $search->read()));

        return number_format($found) . " found, $read jobs read" . ($search->isCut() ? "; go on with --after={$search->last()?->id}" : '');
    }

    private static function job(DelayQueue $queue, State $state, ?string $id): ?JobInfo
    {
        if ($id === null) {
            return null;
        }
        $job = $queue->peek($id) ?? throw new NothingDone("there is no job $id in queue {$queue->name()}");

        return $job->state === $state ? $job : throw new NothingDone("job $id is {$job->state->value}, not $state->value");
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
