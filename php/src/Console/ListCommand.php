<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\JobInfo;
use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class ListCommand extends Command
{
    public function __construct()
    {
        parent::__construct('list');
    }

    protected function configure(): void
    {
        $this->setDescription('Lists the jobs of one state, in their order')
            ->addArgument('state', InputArgument::REQUIRED, 'delayed, ready, reserved or buried')
            ->addOption('offset', null, InputOption::VALUE_REQUIRED, 'How many jobs to skip', '0')
            ->addOption('after', null, InputOption::VALUE_REQUIRED, 'Begin behind this job; --offset counts from there')
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'How many jobs to list at most', '100')
            ->addOption('group', null, InputOption::VALUE_REQUIRED, 'Only the jobs of this group, in the order of the group')
            ->setHelp("  delayqueue list buried --queue=orders\n  delayqueue list ready --group=tenant-42 --queue=orders\n\n" . Application::EXIT_CODES);
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
        $offset = Number::of($input->getOption('offset'), '--offset');
        $limit = Number::of($input->getOption('limit'), '--limit', 1);
        $target = new Target($input);
        $queue = $target->queue();
        $target->refuseUnknown($queue->name());
        $after = self::job($queue, $state, $input->getOption('after'));
        $jobs = $queue->list($state, $offset, $limit, $after, $input->getOption('group'));
        if ($format === Format::JSON) {
            Format::json($output, array_map(JobView::toArray(...), $jobs));
        } elseif ($jobs !== []) {
            Format::table($output, ['id', 'group', 'due', 'attempts', 'priority', 'payload', 'last error'], array_map(self::row(...), $jobs));
        }

        return ExitCode::OK;
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
