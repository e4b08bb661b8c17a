<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Helper\DescriptorHelper;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** The list of commands. Symfony calls its own "list", which is the name of jobs' listing here. */
final class OverviewCommand extends Command
{
    public const NAME = 'commands';

    public function __construct()
    {
        parent::__construct(self::NAME);
    }

    protected function configure(): void
    {
        $this->setDescription('Lists the commands')->setHidden(true);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        (new DescriptorHelper())->describe($output, $this->getApplication());

        return ExitCode::OK;
    }
}
