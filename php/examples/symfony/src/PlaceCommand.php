<?php

declare(strict_types=1);

namespace DelayQueue\Examples\Symfony;

use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use Doctrine\DBAL\Connection;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;

#[AsCommand('shop:place', 'Places an order, which is closed when it is not paid in time')]
final class PlaceCommand extends Command
{
    public function __construct(private readonly Orders $orders, private readonly Connection $database, private readonly MessageBusInterface $bus)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->addArgument('seconds', InputArgument::OPTIONAL, 'Time to pay', '900');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $seconds = (float) $input->getArgument('seconds');
        // One transaction: no order stays that nobody will close, and no message comes for an order that does not exist.
        $order = $this->database->transactional(function () use ($seconds): string {
            $order = $this->orders->place('teapot');
            $this->bus->dispatch(new CloseOrder($order), [new DelayStamp((int) (1000 * $seconds)), new DelayQueueStamp(id: $order)]);

            return $order;
        });
        $output->writeln($order);

        return 0;
    }
}
