<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Console\Dashboard\Door;
use DelayQueue\Console\Dashboard\WebServer;
use DelayQueue\Console\Database\Database;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

/**
 * Runs PHP's own web server, whose pages are dashboard-page.php. It gets its settings through the environment, which other users cannot see, unlike a
 * command line.
 */
final class DashboardCommand extends Command
{
    public function __construct()
    {
        parent::__construct('dashboard');
    }

    protected function configure(): void
    {
        $this->setDescription('Serves pages about queues, jobs and workers to a browser')
            ->addOption('listen', null, InputOption::VALUE_REQUIRED, 'An address and a port', '127.0.0.1:8025')
            ->addOption('read-only', null, InputOption::VALUE_NONE, 'Offer no changes')
            ->addOption('journal', null, InputOption::VALUE_NONE, 'Also show the journal in --database: jobs that have ended, and how each run went')
            ->setHelp(<<<'TEXT'
                  delayqueue dashboard
                  delayqueue dashboard --read-only --journal --database=sqlite:shop.sqlite
                  delayqueue dashboard --listen=0.0.0.0:8025 --allow-host=queues.internal --user=ops --password-file=password

                Prints the address of the first page. Its first part is a secret of this run: without it there are no pages. It listens on the loopback
                interface, which a tunnel reaches (ssh -L 8025:127.0.0.1:8025). Another address needs a login, or --allow-host, or both: HTTP hides
                neither from the network, so put a proxy with TLS before it. Pages of an application with a login of its own are better: see the page
                about the dashboard. Only the address it listens on, loopback names and each --allow-host are served, whoever asks. Each change is a
                line on standard error. SIGTERM and SIGINT (Ctrl-C) end it.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Door::describe($this);
        Database::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        if (!function_exists('pcntl_fork') || !function_exists('posix_kill')) {
            throw new UsageException("dashboard needs PHP's extensions pcntl and posix");
        }
        $door = Door::of($input);
        $target = new Target($input);
        $target->refuseNames('the dashboard is about all queues');
        $target->anywhere();
        $database = $input->getOption('journal') ? new Database($input) : null;
        $database?->connection();
        $server = WebServer::start($door->listen, __DIR__ . '/dashboard-page.php', ['DELAYQUEUE_DASHBOARD' => json_encode([
            'door' => $door->settings(),
            'dsn' => $target->dsn(),
            'options' => $target->options(),
            'readOnly' => $input->getOption('read-only'),
            'journal' => $database?->dsn(),
        ], JSON_THROW_ON_ERROR)]);
        Format::raw($output, $door->address());

        return $server->wait() ? ExitCode::OK : throw new NothingDone('the web server has ended');
    }
}
