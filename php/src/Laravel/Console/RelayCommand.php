<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Console;

use DelayQueue\Console\Duration;
use DelayQueue\Console\Number;
use DelayQueue\Console\UsageException;
use DelayQueue\Database\Relay;
use Illuminate\Console\Command;
use InvalidArgumentException;
use Throwable;

final class RelayCommand extends Command
{
    use FindsConnection;

    protected $signature = 'delayqueue:relay
                            {--connection= : The queue connection}
                            {--once : End when no row is left that is old enough, for the scheduler}
                            {--batch=500 : The number of rows of one transaction, at most 1000}
                            {--after=5 : How long a row is left to the process that has made it: seconds, 500ms, 1m}';

    protected $description = 'Bring the jobs of committed transactions to Redis that have not come there by themselves';

    private bool $isToEnd = false;

    private bool $hasFailed = false;

    /** @return int 1 with --once when something has failed */
    public function handle(): int
    {
        $outbox = $this->connection()->outbox()
            ?? throw new InvalidArgumentException('the queue connection has no outbox: name a database connection under "outbox" in config/queue.php');
        try {
            $batch = Number::of((string) $this->option('batch'), '--batch', 1, Relay::LARGEST_BATCH);
            $after = Duration::of((string) $this->option('after'), '--after');
        } catch (UsageException $error) {
            $this->error($error->getMessage());

            return self::INVALID;
        }
        $relay = $outbox->relay($batch, $after, $this->complain(...));
        $this->listen();
        if ($this->option('once')) {
            return $this->drain($relay);
        }
        $began = $this->restartedAt();
        $relay->run(fn (): bool => $this->isToEnd || $this->restartedAt() !== $began);

        return self::SUCCESS;
    }

    private function drain(Relay $relay): int
    {
        $relay->drain(fn (): bool => $this->isToEnd);
        $relay->sweep();

        return $this->hasFailed ? self::FAILURE : self::SUCCESS;
    }

    private function listen(): void
    {
        if (extension_loaded('pcntl')) {
            pcntl_async_signals(true);
            foreach ([SIGTERM, SIGINT, SIGQUIT] as $signal) {
                pcntl_signal($signal, function (): void {
                    $this->isToEnd = true;
                });
            }
        }
    }

    /** When queue:restart was called, which a new version of the application does. */
    private function restartedAt(): mixed
    {
        return $this->laravel['cache']->get('illuminate:queue:restart');
    }

    private function complain(string $what, Throwable $error): void
    {
        $this->hasFailed = true;
        $this->getOutput()->getErrorStyle()->writeln("<error>$what:</error> {$error->getMessage()}");
        $this->laravel['log']->warning("delayqueue:relay: $what", ['exception' => $error]);
    }
}
