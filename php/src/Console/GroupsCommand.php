<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class GroupsCommand extends Command
{
    public function __construct()
    {
        parent::__construct('groups');
    }

    protected function configure(): void
    {
        $this->setDescription('Lists the groups of a queue that have waiting or reserved jobs, by name')
            ->addArgument('group', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Only these, also where they have no jobs')
            ->addOption('after', null, InputOption::VALUE_REQUIRED, 'Begin behind this name', '')
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'How many groups to list at most', '100')
            ->setHelp(<<<'TEXT'
                  delayqueue groups --queue=orders
                  delayqueue groups --after=tenant-42 --limit=500 --queue=orders
                  delayqueue groups tenant-42 --queue=orders --format=json

                Limits are those in force: the group's own, else those of all others (delayqueue limit --others).
                TEXT . "\n\n" . Application::EXIT_CODES);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $limit = Number::of($input->getOption('limit'), '--limit', 1);
        $queue = (new Target($input))->existing();
        $facts = self::facts($queue, $input->getArgument('group') ?: $queue->groups($limit, $input->getOption('after')));
        if ($format === Format::JSON) {
            Format::json($output, $facts);
        } elseif ($facts === []) {
            $after = $input->getOption('after');
            $which = $after === '' ? '' : " behind $after";
            Format::note($output, "there are no groups with waiting or reserved jobs$which in queue {$queue->name()}");
        } else {
            Format::table($output, ['group', 'waiting', 'reserved', 'next turn', 'limits', ''], array_map(self::row(...), $facts));
        }

        return ExitCode::OK;
    }

    /**
     * @param array<string> $groups
     *
     * @return list<array<string, mixed>>
     */
    private static function facts(DelayQueue $queue, array $groups): array
    {
        ['others' => $others, 'groups' => $own] = $groups === [] ? ['others' => null, 'groups' => []] : $queue->limits();
        $facts = static fn (string $group): array
            => ['group' => $group] + get_object_vars($queue->groupStats($group)) + ['limits' => $own[$group] ?? $others];

        return array_map($facts, array_values($groups));
    }

    /**
     * @param array<string, mixed> $facts
     *
     * @return list<string>
     */
    private static function row(array $facts): array
    {
        ['nextTurnAt' => $next, 'closedUntil' => $until, 'limits' => $limits] = $facts;
        $closed = $until === null ? 'paused' : 'closed until ' . Text::momentAndDistance($until);

        return [
            $facts['group'], "{$facts['waiting']}", "{$facts['reserved']}", $next === null ? '' : Text::momentAndDistance($next),
            $limits === null ? '' : LimitsView::toText($limits), $facts['paused'] ? $closed : '',
        ];
    }
}
