<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\ConnectionException;
use DelayQueue\Console\Worker\Relaunch;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

/**
 * Becomes PHP's own web server (exec), with the pages of metrics-page.php. They get their settings through the environment, which other users
 * cannot see, unlike a command line.
 */
final class MetricsCommand extends Command
{
    public function __construct()
    {
        parent::__construct('metrics');
    }

    protected function configure(): void
    {
        $this->setDescription('Serves the numbers of all queues, or of some, to Prometheus over HTTP')
            ->addOption('listen', null, InputOption::VALUE_REQUIRED, 'Address and port; all that can reach them can read the numbers', '127.0.0.1:9637')
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'At most so many queues; delayqueue_queues_left_out counts the others', (string) StatsCommand::LIMIT)
            ->setHelp(<<<'TEXT'
                  delayqueue metrics
                  delayqueue metrics --queue=orders --queue='mail-*' --listen=10.0.0.5:9637

                The page is /metrics. It has no login: let it listen where only Prometheus can reach it. Its counters of tasks are those
                of all queues under the prefix. While Redis is away it answers 503, and the reason is on standard error. /healthz is 200 as
                long as the server runs, /readyz only while Redis answers. SIGTERM and SIGINT (Ctrl-C) end it.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $listen = $input->getOption('listen');
        Listen::host($listen, '--listen', 9637);
        $socket = @stream_socket_server("tcp://$listen", $code, $why);
        if ($socket === false) {
            throw new NothingDone("cannot listen on $listen: $why");
        }
        fclose($socket);
        $target = new Target($input);
        $limit = Number::of($input->getOption('limit'), '--limit', 1);
        self::check($target, (new QueueChoice($target->named(), $limit))->named());
        $settings = json_encode(
            ['queues' => $target->named(), 'limit' => $limit, 'dsn' => $target->dsn(), 'options' => $target->place()],
            JSON_THROW_ON_ERROR,
        );
        Format::raw($output, "http://$listen/metrics");
        $arguments = [...Relaunch::settings(), '-d', 'expose_php=0', '-q', '-S', $listen, __DIR__ . '/metrics-page.php'];
        pcntl_exec(PHP_BINARY, $arguments, ['DELAYQUEUE_METRICS' => $settings] + getenv());
        throw new NothingDone('cannot run ' . PHP_BINARY);
    }

    /**
     * A mistake in the settings is an error now, and not an answer to Prometheus later. While Redis is away, the page says so.
     *
     * @param list<non-empty-string> $names
     */
    private static function check(Target $target, array $names): void
    {
        $target->anywhere();
        try {
            foreach ($names as $name) {
                $target->openWithoutKeys($name);
            }
            $target->refuseUnknown(...$names);
        } catch (ConnectionException) {
        }
    }
}
