<?php

declare(strict_types=1);

namespace DelayQueue\Examples\Symfony;

use DelayQueue\Symfony\Canceller;
use Shop;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('shop:pay', 'Pays an order, and takes back the message that would close it')]
final class PayCommand extends Command
{
    public function __construct(private readonly Shop $shop, private readonly Canceller $canceller)
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
        if (!$this->shop->pay($order)) {
            $output->writeln("$order is not open any more");

            return 1;
        }
        $this->canceller->cancel($order);
        $output->writeln("$order is paid");

        return 0;
    }
}
