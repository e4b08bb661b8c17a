<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class ForgetReceiptsCommand extends Command
{
    /** Names of one call. */
    private const MANY = 1000;

    public function __construct()
    {
        parent::__construct('forget-receipts');
    }

    protected function configure(): void
    {
        $this->setDescription('Forgets receipts of a queue and frees ids that are taken for some time, and prints how many there were')
            ->addArgument('name', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Receipts, or ids that --unique keeps taken')
            ->setHelp(<<<'TEXT'
                  delayqueue forget-receipts order-4711 --queue=orders
                  delayqueue forget-receipts --starting-with=load/ --queue=orders
                  delayqueue forget-receipts --starting-with=outbox/ --older-than=30d --queue=orders --force

                Once its receipt is forgotten, a job is added again when it is pushed or loaded again. Name the receipts, or choose them by
                beginning and age.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Receipts::describe($this);
        Confirmation::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $names = $input->getArgument('name');
        if (($names === []) !== Receipts::areChosen($input)) {
            throw new UsageException('give names, or --starting-with or --older-than');
        }
        $queue = (new Target($input))->existing();
        $receipts = $names ?: Receipts::of($queue, $input);
        if ($names === []) {
            $number = count($receipts);
            Confirmation::ask($input, $output, static fn (): string => "Forget $number receipts of queue {$queue->name()}");
        }
        $forgotten = 0;
        foreach (array_chunk($receipts, self::MANY) as $some) {
            $forgotten += $queue->forgetReceipts(...$some);
        }
        Format::raw($output, "$forgotten forgotten");

        return $forgotten > 0 || $names === [] ? ExitCode::OK : ExitCode::FAILED;
    }
}
