<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue\Console\Application;
use DelayQueue\Console\Duration;
use DelayQueue\Console\ExitCode;
use DelayQueue\Console\Failure;
use DelayQueue\Console\Format;
use DelayQueue\Console\Target;
use DelayQueue\Console\Text;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;
use DelayQueue\Exception;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class OutboxStatusCommand extends Command
{
    public function __construct()
    {
        parent::__construct('outbox:status');
    }

    protected function configure(): void
    {
        $this->setDescription('Shows how many rows wait in the outbox, and for how long')
            ->addOption('max-age', null, InputOption::VALUE_REQUIRED, 'Exit with 1 where the oldest row is older: 30s, 5m')
            ->setHelp(<<<'TEXT'
                  delayqueue outbox:status --max-age=1m --database="pgsql:host=localhost;dbname=shop"

                Receipts are those that this database has in Redis, in all queues of the prefix. Where Redis does not answer, they are unknown.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Database::describe($this);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $target = new Target($input);
        $target->refuseNames('it counts the rows of all queues');
        $most = Duration::orNull($input->getOption('max-age'), '--max-age');
        $database = (new Database($input))->connection();
        $source = Schema::source($database);
        ['rows' => $rows, 'oldest' => $oldest] = (new Outbox($database))->waiting();
        $why = null;
        try {
            $receipts = self::receipts($target, $source);
        } catch (Exception $error) {
            [$receipts, $why] = [null, Failure::line($error)];
        }
        if ($format === Format::JSON) {
            Format::json($output, ['rows' => $rows, 'oldest' => $oldest, 'receipts' => $receipts]);
        } else {
            Format::line($output, "rows      $rows");
            Format::line($output, 'oldest    ' . ($oldest === null ? '-' : Text::length($oldest)));
            Format::line($output, 'receipts  ' . ($receipts ?? "unknown: $why"));
        }

        return $most !== null && $oldest > $most ? ExitCode::FAILED : ExitCode::OK;
    }

    /**
     * How many receipts this database has in Redis.
     *
     * @throws Exception where Redis does not say
     */
    private static function receipts(Target $target, string $source): int
    {
        $count = 0;
        foreach ($target->anywhere()->queues() as $queue) {
            $count += count($target->openWhole($queue)->receipts(0, "$source/", PHP_INT_MAX));
        }

        return $count;
    }
}
