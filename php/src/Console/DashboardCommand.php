<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Console\Worker\Relaunch;
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
    private const PROCESSES = '4';

    public function __construct()
    {
        parent::__construct('dashboard');
    }

    protected function configure(): void
    {
        $this->setDescription('Serves pages about queues, jobs and workers to a browser')
            ->addOption('listen', null, InputOption::VALUE_REQUIRED, 'A loopback address and a port', '127.0.0.1:8025')
            ->addOption('read-only', null, InputOption::VALUE_NONE, 'Offer no changes')
            ->setHelp(<<<'TEXT'
                  delayqueue dashboard
                  delayqueue dashboard --read-only --listen=127.0.0.1:9000

                Prints the address of the first page. Its first part is a secret of this run: without it there are no pages. To reach it from elsewhere, tunnel
                (ssh -L 8025:127.0.0.1:8025), or serve the pages with the application: see the page about the dashboard. SIGTERM and SIGINT (Ctrl-C) end it.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $listen = $input->getOption('listen');
        if (!preg_match('/^(127(?:\.\d{1,3}){3}|\[::1]|localhost):[1-9]\d{0,4}$/D', $listen)) {
            throw new UsageException("--listen must be a loopback address and a port, such as 127.0.0.1:8025, not $listen");
        }
        $socket = @stream_socket_server("tcp://$listen", $code, $why);
        if ($socket === false) {
            throw new NothingDone("cannot listen on $listen: $why");
        }
        fclose($socket);
        $target = new Target($input);
        $target->refuseNames('the dashboard is about all queues');
        $target->anywhere();
        $token = bin2hex(random_bytes(16));
        $settings = json_encode(
            ['token' => $token, 'dsn' => $target->dsn(), 'options' => $target->options(), 'readOnly' => $input->getOption('read-only')],
            JSON_THROW_ON_ERROR,
        );
        Format::raw($output, "http://$listen/$token/");
        $arguments = [...Relaunch::settings(), '-q', '-S', $listen, __DIR__ . '/dashboard-page.php'];

        return self::serve($arguments, ['DELAYQUEUE_DASHBOARD' => $settings, 'PHP_CLI_SERVER_WORKERS' => self::PROCESSES] + getenv());
    }

    /**
     * The web server ends without its workers. So it has a process group of its own, which a signal to this process ends as a whole.
     *
     * @param list<string> $arguments
     * @param array<string, string> $environment
     */
    private static function serve(array $arguments, array $environment): int
    {
        $ended = false;
        pcntl_async_signals(true);
        foreach ([SIGTERM, SIGINT, SIGQUIT, SIGHUP] as $signal) {
            pcntl_signal($signal, static function () use (&$ended): void {
                $ended = true;
            }, false);
        }
        $server = pcntl_fork();
        if ($server === 0) {
            posix_setsid();
            pcntl_exec(PHP_BINARY, $arguments, $environment);
            exit(ExitCode::FAILED);
        }
        do {
            $gone = pcntl_waitpid($server, $status, WNOHANG) !== 0;
        } while (!$gone && !$ended && usleep(100_000) === null);
        posix_kill(-$server, SIGTERM);

        return $ended ? ExitCode::OK : throw new NothingDone('the web server has ended');
    }
}
