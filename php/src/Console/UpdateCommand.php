<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class UpdateCommand extends Command
{
    public function __construct()
    {
        parent::__construct('update');
    }

    protected function configure(): void
    {
        $list = InputOption::VALUE_REQUIRED | InputOption::VALUE_IS_ARRAY;
        $this->setDescription('Replaces the payload of a delayed, ready or buried job')
            ->addArgument('id', InputArgument::REQUIRED, 'The id of the job')
            ->addOption('header', null, $list, 'Change or add this header: "name: value", once for each; all others stay')
            ->addOption('no-header', null, $list, 'Remove the header of this name')
            ->setHelp(<<<'TEXT'
                  delayqueue update order-4711 '{"order": 4711, "retry": true}' --queue=orders
                  delayqueue update order-4711 - --queue=orders < order.json
                  delayqueue kick order-4711 --queue=orders

                The job keeps its state, its time and its attempts: a buried job stays buried until kick.
                TEXT . "\n\n" . Application::EXIT_CODES);
        PayloadInput::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $id = $input->getArgument('id');
        $payload = PayloadInput::read($input, $output);
        // The bytes go in as they are, as in push.
        $target = new Target($input);
        $queue = $target->queue(['format' => 'raw']);
        $headers = Headers::parse($input->getOption('header')) + array_fill_keys($input->getOption('no-header'), null);
        if (!$queue->update($id, $payload, $headers ?: null)) {
            $target->refuseUnknown($queue->name());
            throw new NothingDone("there is no job $id in queue {$queue->name()}, or a worker holds it");
        }
        Format::note($output, "job $id is updated");

        return ExitCode::OK;
    }
}
