<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\ServerException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class PauseCommand extends Command
{
    public function __construct()
    {
        parent::__construct('pause');
    }

    protected function configure(): void
    {
        $this->setDescription('Keeps jobs, or those of a group, from all workers; pushes are still accepted')
            ->addOption('group', null, InputOption::VALUE_REQUIRED, 'Only the jobs of this group')
            ->addOption('for', null, InputOption::VALUE_REQUIRED, 'End the pause after this: seconds, 15m, PT15M (default: when resume ends it)')
            ->addOption('create', null, InputOption::VALUE_NONE, 'The queue may be one to which nothing was pushed yet')
            ->setHelp("  delayqueue pause --for=10m --queue=orders --queue=refunds\n  delayqueue pause --group=tenant-42 --queue=orders\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $input->getOption('create') || $target->refuseUnknown(...$target->names());
        [$for, $group] = [$input->getOption('for'), $input->getOption('group')];
        $seconds = Duration::orNull($for, '--for');
        foreach ($target->names() as $name) {
            $target->open($name)->pause($seconds, $group);
            Format::line($output, self::name($name, $group) . ': paused ' . self::end($seconds));
        }

        return ExitCode::OK;
    }

    /** Whether it is closed now; null: the user may not look. */
    public static function isPaused(DelayQueue $queue, ?string $group): ?bool
    {
        try {
            return $queue->isPaused($group);
        } catch (ServerException) {
            return null;
        }
    }

    /** The name of the queue, and of the group if only that is meant. */
    public static function name(string $queue, ?string $group): string
    {
        return $queue . ($group === null ? '' : ", group $group");
    }

    /** By the clock of this host, which is the clock of the reader: the pause has just begun. */
    public static function end(?float $seconds): string
    {
        return $seconds === null ? 'until resume' : 'for ' . Text::length($seconds) . ', until ' . Text::moment(microtime(true) + $seconds);
    }
}
