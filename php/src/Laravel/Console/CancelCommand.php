<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Console;

use Illuminate\Console\Command;

final class CancelCommand extends Command
{
    use FindsConnection;

    protected $signature = 'delayqueue:cancel
                            {id* : The ids of the jobs}
                            {--queue= : The queue they are in; else all are looked at}
                            {--connection= : The queue connection}';

    protected $description = 'Remove jobs from the queue by their ids, waiting or running';

    /** @return int 1 when one of them was not there */
    public function handle(): int
    {
        $missing = 0;
        foreach ($this->argument('id') as $id) {
            if ($this->connection()->cancel($id, $this->queueOption()) > 0) {
                $this->line("<info>cancelled</info> $id");
            } else {
                ++$missing;
                $this->line("<error>not there</error> $id");
            }
        }

        return $missing === 0 ? self::SUCCESS : self::FAILURE;
    }
}
