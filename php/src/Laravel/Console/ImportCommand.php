<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Console;

use DelayQueue\Laravel\Import\RedisJobs;
use DelayQueue\Laravel\Manager;
use Illuminate\Console\Command;
use Illuminate\Contracts\Queue\Factory;
use Illuminate\Queue\RedisQueue;

final class ImportCommand extends Command
{
    protected $signature = 'delayqueue:import
                            {from=redis : A queue connection of the driver redis}
                            {--queue= : The queues, separated by commas; else all that are there}
                            {--to= : The queue connection of the driver delayqueue}';

    protected $description = 'Move the waiting and delayed jobs of the redis driver to delayqueue, with their times';

    public function handle(Factory $queues, Manager $manager): int
    {
        $from = $queues->connection($this->argument('from'));
        if (!$from instanceof RedisQueue) {
            $this->error("the queue connection [{$this->argument('from')}] is not of the driver redis");

            return self::INVALID;
        }
        $source = new RedisJobs($from);
        $to = $manager->connection($this->option('to') ?: null);
        $names = array_filter(explode(',', (string) $this->option('queue'))) ?: $source->queues();
        foreach ($names as $name) {
            [$waiting, $delayed] = $source->moveTo($to, $name);
            $this->line("<info>$name</info> $waiting waiting and $delayed delayed jobs moved");
        }
        if ($names === []) {
            $this->line('There is no job to move.');
        }

        return self::SUCCESS;
    }
}
