<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Console;

use DelayQueue\Database\Relay;
use Illuminate\Console\Command;
use InvalidArgumentException;
use Throwable;

final class RelayCommand extends Command
{
    use FindsConnection;

    protected $signature = 'delayqueue:relay
                            {--connection= : The queue connection}
                            {--once : End when no row is left, for the scheduler}
                            {--batch=500 : The number of rows of one transaction}
                            {--after=5 : Seconds for which a row is left to the process that has made it}';

    protected $description = 'Bring the jobs of committed transactions to Redis that have not come there by themselves';

    private bool $isToEnd = false;

    private bool $hasFailed = false;

    /** @return int 1 with --once when rows were left */
    public function handle(): int
    {
        $outbox = $this->connection()->outbox()
            ?? throw new InvalidArgumentException('the queue connection has no outbox: name a database connection under "outbox" in config/queue.php');
        $relay = $outbox->relay(max(1, (int) $this->option('batch')), max(0.0, (float) $this->option('after')), $this->complain(...));
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
        do {
            $moved = $relay->runOnce();
        } while ($moved > 0 && !$this->isToEnd);
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
