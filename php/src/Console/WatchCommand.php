<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Bury;
use DelayQueue\Console\Check\Alerts;
use DelayQueue\Console\Check\Look;
use DelayQueue\Console\Check\Report;
use DelayQueue\Console\Worker\LogOutput;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\Console\Worker\StopSignal;
use DelayQueue\Http\DeliveryFailed;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

/** The limits of check, looked at again and again. */
final class WatchCommand extends Command
{
    public function __construct()
    {
        parent::__construct('watch');
    }

    protected function configure(): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $this->setDescription('Posts to a URL when queues pass the limits of check, and when they are well again')
            ->addOption('alert-url', null, $value, 'Where to post; else the environment\'s DELAYQUEUE_ALERT_URL, which other users of the machine do not see')
            ->addOption('every', null, $value, 'How often to look', '15s')
            ->setHelp(<<<'TEXT'
                  delayqueue watch --alert-url=https://chat.example/hooks/4711 --max-age=60s --max-buried=0
                  delayqueue watch orders "mail-*" --alert-url=https://ops.example/alerts --max-lateness-p99=5s --min-workers=1

                Each post is JSON: "text", one line that chats such as Slack and Mattermost show; "level"; "changes", the queues that have changed, from
                which level to which, queue null for Redis itself; "findings", the numbers beyond a limit; "at", "host" and "prefix". A post that is not
                accepted is repeated at the next look. DELAYQUEUE_ALERT_SECRET signs the posts, as Http\Signature does. A queue that is not well at the
                start counts as a change. SIGTERM and SIGINT (Ctrl-C) end the command.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Look::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $url = $input->getOption('alert-url') ?? (getenv('DELAYQUEUE_ALERT_URL') ?: throw new UsageException('--alert-url is missing: name where to post'));
        $every = Duration::of($input->getOption('every'), '--every');
        if ($every <= 0) {
            throw new UsageException('--every must be more than 0');
        }
        $look = new Look($input);
        $prefix = (new Target($input))->anywhere()->settings()->prefix;
        $alerts = new Alerts($url, getenv('DELAYQUEUE_ALERT_SECRET') ?: null, ['host' => (string) gethostname(), 'prefix' => $prefix]);
        $look->refuseUnknown();
        $signal = new StopSignal(defined('SIGTERM') ? [SIGTERM, SIGINT, SIGQUIT, SIGHUP] : []);
        // It goes on where its output cannot be written.
        $log = new LogOutput(STDOUT, $output->getVerbosity(), 'standard output', new Notices($output, false));
        Format::raw($log, "alerts go to $alerts->origin");
        while (!$signal->hasCome()) {
            self::tell($alerts, $look->report(), $log, Format::errors($output));
            for ($until = microtime(true) + $every; !$signal->hasCome() && microtime(true) < $until;) {
                usleep((int) (min(0.2, max(0, $until - microtime(true))) * 1e6));
            }
        }

        return ExitCode::OK;
    }

    private static function tell(Alerts $alerts, Report $report, LogOutput $log, OutputInterface $errors): void
    {
        $now = microtime(true);
        try {
            if ($alerts->tell($report, $now)) {
                Format::line($log, Text::moment($now) . ' ' . $report->line());
            }
        } catch (DeliveryFailed|Bury $error) {
            Format::line($errors, Text::moment($now) . " {$report->line()}; the alert is not delivered: " . Failure::line($error));
        }
    }
}
