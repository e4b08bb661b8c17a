<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\Dump\Dump;
use DelayQueue\JobInfo;
use DelayQueue\SealException;
use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class ResealCommand extends Command
{
    /** In the direction that jobs move, so that one that moves is rather looked at twice than missed. */
    private const STATES = [State::Delayed, State::Ready, State::Buried];

    /** A producer that still seals with another key would keep the command busy for ever. */
    private const PASSES = 20;

    public function __construct()
    {
        parent::__construct('reseal');
    }

    protected function configure(): void
    {
        $this->setDescription('Seals all waiting jobs of a queue with the first key of the keys file')
            ->addArgument('name', InputArgument::REQUIRED, 'The queue')
            ->addOption('sealed-only', null, InputOption::VALUE_NONE, 'Leave jobs alone that are not sealed: sealing one vouches for it, whoever pushed it')
            ->setHelp(<<<'TEXT'
                  delayqueue reseal orders --keys-file=/etc/shop/queue.keys

                The command moves jobs that are delayed, ready or buried; workers may run meanwhile. It reports jobs that workers hold, and leaves
                them alone: run it again when they are done, before you remove the old key from the file. Running it twice does no harm.
                It ends with 1 when there are jobs that it cannot open; it names them on standard error and leaves them as they are.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $first = array_key_first($target->keys() ?? throw new UsageException('reseal needs keys: --keys-file or DELAYQUEUE_KEYS_FILE'));
        $target->refuseUnknown($input->getArgument('name'));
        $queue = $target->open($input->getArgument('name'));
        $moved = 0;
        for ($pass = 1; $pass <= self::PASSES; $pass++) {
            [$now, $others, $refused] = self::pass($queue, !$input->getOption('sealed-only'));
            $moved += $now;
            if ($now === 0) {
                break;
            }
        }
        $errors = Format::errors($output);
        foreach ($refused as $why) {
            Format::line($errors, $why);
        }
        $hasOther = static fn (JobInfo $job): bool => (string) ($job->seal['key'] ?? '') !== (string) $first;
        $held = count(array_filter($queue->list(State::Reserved, 0, 1_000_000), $hasOther));
        Format::raw($output, sprintf(
            '%d sealed with key %s now, %d not changed, %d held by workers with another key or none, %d not opened',
            $moved, $first, max(0, $others - $moved), $held, count($refused),
        ));

        return $refused === [] ? ExitCode::OK : ExitCode::FAILED;
    }

    /** @return array{int, int, array<string>} how many jobs it sealed, how many there was nothing to do with, why others were left, by id */
    private static function pass(DelayQueue $queue, bool $plainToo): array
    {
        [$moved, $others, $refused] = [0, 0, []];
        foreach (Dump::jobs($queue, ...self::STATES) as $job) {
            try {
                $queue->reseal($job->id, $plainToo) ? $moved++ : $others++;
            } catch (SealException $error) {
                $refused[$job->id] = $error->getMessage();
            }
        }

        return [$moved, $others, $refused];
    }
}
