<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\GroupLimits;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class LimitCommand extends Command
{
    /** The options that make up limits. */
    private const LIMITS = ['concurrency', 'rate', 'burst', 'weight', 'ordered'];

    public function __construct()
    {
        parent::__construct('limit');
    }

    protected function configure(): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $this->setDescription('Sets, forgets or shows the limits of a group, of all other groups, or of a queue')
            ->addArgument('group', InputArgument::OPTIONAL, 'The group that has these limits of its own')
            ->addOption('others', null, InputOption::VALUE_NONE, 'Each group that has no limits of its own')
            ->addOption('total', null, InputOption::VALUE_NONE, 'All jobs of the queue together: --concurrency, --rate and --burst')
            ->addOption('concurrency', null, $value, 'At most so many jobs run at once')
            ->addOption('rate', null, $value, 'At most so many jobs start in so long: 100/1m')
            ->addOption('burst', null, $value, 'With --rate: so many of them may start at once (default: its number)')
            ->addOption('weight', null, $value, 'So many jobs in each turn (default: 1)')
            ->addOption('ordered', null, InputOption::VALUE_NONE, 'One job at a time, and one that comes back goes first')
            ->addOption('forget', null, InputOption::VALUE_NONE, 'Remove the limits')
            ->addOption('create', null, InputOption::VALUE_NONE, 'The queue may be one to which nothing was pushed yet, also to look')
            ->setHelp(<<<'TEXT'
                  delayqueue limit --queue=orders                              shows all that are set
                  delayqueue limit tenant-42 --concurrency=3 --queue=orders
                  delayqueue limit --others --rate=100/1m --burst=1 --queue=orders
                  delayqueue limit --total --concurrency=20 --queue=orders
                  delayqueue limit tenant-42 --forget --queue=orders           limits of all others hold for it again

                The options replace all limits of the group: one that is not given is no limit. They hold from the next job on.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        [$group, $isOthers, $isTotal] = [$input->getArgument('group'), $input->getOption('others'), $input->getOption('total')];
        if (($group !== null) + $isOthers + $isTotal > 1) {
            throw new UsageException('give a group, --others or --total');
        }
        $limits = self::limits($input);
        $isChange = $limits !== null || $input->getOption('forget');
        if ($isChange && $group === null && !$isOthers && !$isTotal) {
            throw new UsageException('say whose limits: give a group, --others or --total');
        }
        $target = new Target($input);
        $queue = $target->queue();
        $input->getOption('create') || $target->refuseUnknown($queue->name());
        if ($isChange && $isTotal) {
            $queue->limitQueue($limits?->concurrency, $limits?->rate, $limits?->burst);
        } elseif ($isChange) {
            $queue->limitGroups($group, $limits);
        }
        // Of a change what was set: to read limits is a further right.
        $groups = $limits === null ? [] : [(string) $group => $limits];
        $all = $isChange ? ['queue' => $limits, 'others' => $limits, 'groups' => $groups] : $queue->limits();
        self::show($output, $format, $queue->name(), $all, $group, $isOthers, $isTotal);

        return ExitCode::OK;
    }

    /** @return ?GroupLimits null: no option says any */
    private static function limits(InputInterface $input): ?GroupLimits
    {
        $given = array_filter(self::LIMITS, static fn (string $name): bool => !in_array($input->getOption($name), [null, false], true));
        if ($given === []) {
            return null;
        }
        if ($input->getOption('forget')) {
            throw new UsageException('give limits or --forget, not both');
        }
        if ($input->getOption('total') && array_intersect($given, ['weight', 'ordered']) !== []) {
            throw new UsageException('--weight and --ordered are of groups, and not of --total');
        }
        if (in_array('burst', $given, true) && !in_array('rate', $given, true)) {
            throw new UsageException('--burst goes with --rate');
        }
        if ($input->getOption('ordered') && !in_array($input->getOption('concurrency'), [null, '1'], true)) {
            throw new UsageException('--ordered is one job at a time: give it no other --concurrency');
        }

        return new GroupLimits(
            concurrency: Number::orNull($input->getOption('concurrency'), '--concurrency', 1),
            rate: $input->getOption('rate'),
            burst: Number::orNull($input->getOption('burst'), '--burst', 1),
            weight: Number::of($input->getOption('weight') ?? '1', '--weight', 1),
            ordered: $input->getOption('ordered'),
        );
    }

    /** @param array{queue: ?GroupLimits, others: ?GroupLimits, groups: array<GroupLimits>} $all */
    private static function show(
        OutputInterface $output,
        string $format,
        string $queue,
        array $all,
        ?string $group,
        bool $isOthers,
        bool $isTotal,
    ): void {
        $shown = match (true) {
            $group !== null => ['groups' => array_intersect_key($all['groups'], [$group => true])],
            $isOthers => ['others' => $all['others']],
            $isTotal => ['queue' => $all['queue']],
            default => $all,
        } + ['queue' => null, 'others' => null, 'groups' => []];
        if ($format === Format::JSON) {
            // An object, also when the names are numbers, or there are none.
            Format::json($output, ['groups' => (object) $shown['groups']] + $shown);

            return;
        }
        $rows = [];
        foreach (['all jobs together' => $shown['queue'], 'all other groups' => $shown['others']] as $whose => $limits) {
            $rows = [...$rows, ...($limits === null ? [] : [[$whose, LimitsView::toText($limits)]])];
        }
        foreach ($shown['groups'] as $name => $limits) {
            $rows[] = ["group $name", LimitsView::toText($limits)];
        }
        if ($rows === []) {
            $whose = match (true) {
                $group !== null => "group $group has no limits of its own",
                $isOthers => 'groups without limits of their own have none',
                $isTotal => 'there are no limits of all jobs together',
                default => 'no limits are set',
            };
            Format::note($output, "$whose in queue $queue");

            return;
        }
        Format::table($output, ['of', 'limits'], $rows);
    }
}
