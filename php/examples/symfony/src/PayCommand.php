<?php

declare(strict_types=1);

namespace DelayQueue\Examples\Symfony;

use DelayQueue\Symfony\Canceller;
use Doctrine\DBAL\Connection;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('shop:pay', 'Pays an order, and takes back the message that would close it')]
final class PayCommand extends Command
{
    public function __construct(private readonly Orders $orders, private readonly Connection $database, private readonly Canceller $canceller)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->addArgument('order', InputArgument::REQUIRED);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $order = $input->getArgument('order');
        $paid = $this->database->transactional(function () use ($order): bool {
            $paid = $this->orders->pay($order);
            if ($paid) {
                $this->canceller->cancel($order); // When the payment is committed.
            }

            return $paid;
        });
        $output->writeln($paid ? "$order is paid" : "$order is not open any more");

        return $paid ? 0 : 1;
    }
}
