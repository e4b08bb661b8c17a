<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use Doctrine\Persistence\ManagerRegistry;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Messenger\MessageBusInterface;

/** Stores an order, and dispatches its message, in one transaction. */
final class OrderCommand extends Command
{
    public function __construct(private readonly ManagerRegistry $doctrine, private readonly MessageBusInterface $bus)
    {
        parent::__construct('shop:order');
    }

    protected function configure(): void
    {
        $this->addArgument('name', InputArgument::REQUIRED);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $name = $input->getArgument('name');
        $this->doctrine->getConnection()->transactional(function () use ($name): void {
            $this->doctrine->getConnection()->insert('effects', ['name' => $name]);
            $this->bus->dispatch(new ShopWork($name));
        });

        return 0;
    }
}
