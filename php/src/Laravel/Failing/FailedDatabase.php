<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Failing;

use Illuminate\Contracts\Container\Container;
use Illuminate\Database\ConnectionInterface;
use Illuminate\Database\Query\Builder;
use Throwable;

/** The database of failed_jobs, by the names in config/queue.php. */
final class FailedDatabase
{
    public function __construct(private readonly Container $container)
    {
    }

    public function table(): Builder
    {
        return $this->connection()->table($this->container->make('config')->get('queue.failed.table') ?? 'failed_jobs');
    }

    /** How many transactions are open, one in the other. */
    public function level(): int
    {
        try {
            return $this->container->resolved('db') ? $this->connection()->transactionLevel() : 0;
        } catch (Throwable) {
            return 0; // It is not configured.
        }
    }

    public function rollBackTo(int $level): void
    {
        if ($this->level() > $level) {
            $this->connection()->rollBack($level);
        }
    }

    private function connection(): ConnectionInterface
    {
        return $this->container->make('db')->connection($this->container->make('config')->get('queue.failed.database'));
    }
}
