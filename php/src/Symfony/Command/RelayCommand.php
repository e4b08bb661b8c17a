<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Command;

use DelayQueue;
use DelayQueue\Console\Duration;
use DelayQueue\Console\Number;
use DelayQueue\Console\UsageException;
use DelayQueue\Database\Relay;
use DelayQueue\Symfony\Database\RowQueues;
use DelayQueue\Symfony\Database\TransportOutbox;
use DelayQueue\Symfony\Transport\MessageEnds;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Symfony\Worker\RestartSignal;
use Psr\Cache\CacheItemPoolInterface;
use Psr\Container\ContainerInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Exception\InvalidArgumentException;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\ConsoleOutputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;

/** The relay of the transports with an outbox, with their queues, keys and partitions. */
#[AsCommand('delayqueue:relay', 'Brings the messages of committed transactions to Redis that have not come there by themselves')]
final class RelayCommand extends Command
{
    private bool $isToEnd = false;

    private bool $hasFailed = false;

    /**
     * @param ContainerInterface $receivers the transports by name
     * @param list<string> $transports names of those that may have an outbox
     * @param CacheItemPoolInterface|null $restartSignal where messenger:stop-workers writes
     */
    public function __construct(
        private readonly ContainerInterface $receivers,
        private readonly TransportFactory $factory,
        private readonly array $transports,
        private readonly ?LoggerInterface $logger = null,
        private readonly ?CacheItemPoolInterface $restartSignal = null,
    ) {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->addOption('outbox', null, InputOption::VALUE_REQUIRED, 'The outbox, where transports name several')
            ->addOption('once', null, InputOption::VALUE_NONE, 'End when no row is left that is old enough; with 1 when something has failed')
            ->addOption('batch', null, InputOption::VALUE_REQUIRED, 'Rows of one transaction, at most 1000', '500')
            ->addOption('after', null, InputOption::VALUE_REQUIRED, 'How long a row is left to the process that has made it: seconds, 500ms, 1m', '5');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        try {
            $batch = Number::of($input->getOption('batch'), '--batch', 1, Relay::LARGEST_BATCH);
            $after = Duration::of($input->getOption('after'), '--after');
        } catch (UsageException $error) {
            throw new InvalidArgumentException("{$error->getMessage()}.", self::INVALID);
        }
        $queues = $this->choose($input->getOption('outbox'));
        $first = current($queues);
        $errors = $output instanceof ConsoleOutputInterface ? $output->getErrorOutput() : $output;
        $relay = new Relay(
            $first->database(),
            new RowQueues(
                // Receipts may be in any queue of that Redis, and rows of a transport that has another queue now.
                static fn (string $queue): DelayQueue => isset($queues[$queue])
                    ? $queues[$queue]->queues()->own()
                    : $first->queues()->own()->sibling($queue),
                array_map(static fn (TransportOutbox $outbox): MessageEnds => $outbox->ends(), $queues),
            ),
            $batch,
            $after,
            function (string $what, Throwable $error) use ($errors, $first): void {
                $this->hasFailed = true;
                // DBAL does not notice each lost connection. A closed one is opened again.
                $first->database()->isInTransaction() || $first->database()->handle()->close();
                $errors->writeln("$what: {$error->getMessage()}", OutputInterface::OUTPUT_RAW);
                $this->logger?->error('delayqueue:relay: {what}', ['what' => $what, 'exception' => $error]);
            },
        );
        $this->listen();
        if ($input->getOption('once')) {
            $relay->drain(fn (): bool => $this->isToEnd);
            $relay->sweep();

            return $this->hasFailed ? self::FAILURE : self::SUCCESS;
        }
        $restart = new RestartSignal($this->restartSignal);
        $relay->run(fn (): bool => $this->isToEnd || $restart->isRequested());

        return self::SUCCESS;
    }

    /** @return non-empty-array<string, TransportOutbox> those of the transports of one outbox, by their queues */
    private function choose(?string $wanted): array
    {
        $outboxes = $this->outboxes();
        $wanted ??= count($outboxes) === 1 ? (string) array_key_first($outboxes) : null;
        if ($wanted === null || !isset($outboxes[$wanted])) {
            $names = implode(', ', array_keys($outboxes));
            throw new InvalidArgumentException(match (true) {
                $outboxes === [] => 'No delayqueue transport has an outbox.',
                $wanted === null => "Name one of the outboxes with --outbox: $names.",
                default => "No delayqueue transport has the outbox \"$wanted\"; there are: $names.",
            });
        }

        return $outboxes[$wanted];
    }

    /** @return array<string, non-empty-array<string, TransportOutbox>> by outbox and queue */
    private function outboxes(): array
    {
        $outboxes = [];
        foreach ($this->transports as $transport) {
            $this->receivers->get($transport);
            $outbox = $this->factory->made($transport)?->outbox();
            if ($outbox === null) {
                continue;
            }
            $settings = $outbox->queues()->settings;
            $other = $outboxes[$settings->outbox][$settings->queue] ?? $outbox;
            if ($other->queues()->place() !== $outbox->queues()->place()) {
                throw new InvalidArgumentException("Two transports with the outbox \"$settings->outbox\" have the queue \"$settings->queue\" in two places, and its rows do not tell which. Give one another name.");
            }
            $outboxes[$settings->outbox][$settings->queue] = $outbox;
        }

        return $outboxes;
    }

    private function listen(): void
    {
        if (function_exists('pcntl_signal')) {
            pcntl_async_signals(true);
            foreach ([SIGTERM, SIGINT, SIGQUIT] as $signal) {
                pcntl_signal($signal, function (): void {
                    $this->isToEnd = true;
                });
            }
        }
    }
}
