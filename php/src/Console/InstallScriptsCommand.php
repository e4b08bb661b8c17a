<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class InstallScriptsCommand extends Command
{
    public function __construct()
    {
        parent::__construct('install-scripts');
    }

    protected function configure(): void
    {
        $this->setDescription('Loads the scripts into Redis, for users that may run them and may not send any')
            ->setHelp("  delayqueue install-scripts --dsn=redis://dqinstaller:SECRET@127.0.0.1:6379\n\n  A server forgets them when it restarts, and a replica that takes over has none: run it again then, and\n  after an update of delayqueue. In a cluster all masters get them.\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $servers = (new Target($input))->queue()->installScripts();
        Format::line($output, sprintf('Installed on %d %s.', $servers, $servers === 1 ? 'server' : 'servers'));

        return ExitCode::OK;
    }
}
