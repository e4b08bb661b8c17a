<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue;
use DelayQueue\Console\Target;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\Database\Connection;
use DelayQueue\Database\Relay;
use DelayQueue\Database\Schema;
use Symfony\Component\Console\Input\InputInterface;
use Throwable;

/** The relay as a process: of outbox:relay, or beside the workers of a pool. */
final class RelayRun
{
    /** Defaults of the options --after, in seconds, and --batch. */
    public const AFTER = 5;
    public const BATCH = 500;


    private readonly Target $target;

    private readonly Connection $database;

    private readonly FailureLog $failures;

    public function __construct(InputInterface $input, Notices $notices)
    {
        $this->failures = new FailureLog($notices, 'relayFailed');
        $this->target = new Target($input);
        // A mistake in the keys is told at the start, not for each row.
        $this->target->options();
        $this->database = (new Database($input))->connection();
    }

    /**
     * Until $stop says true.
     *
     * @param callable(): bool $stop
     * @param callable(string): void $ready hears from where to where rows go, once the database has answered and the tables are there
     */
    public function run(float $after, int $batch, callable $stop, callable $ready): void
    {
        // From here on an error of the database is one that passes; before, it may be one of the DSN.
        Schema::source($this->database);
        $relay = $this->relay($after, $batch);
        $anywhere = $this->target->anywhere()->settings();
        $ready("rows of {$this->database->driver()} go to $anywhere->dsn, prefix $anywhere->prefix");
        $relay->run($stop);
    }

    /**
     * Until $stop says true, which the pool has it say when all workers have ended. Then it brings what their last jobs have left, however young.
     *
     * @param callable(): bool $stop
     * @param callable(): void $ready
     */
    public function besideWorkers(callable $stop, callable $ready): void
    {
        $this->run(self::AFTER, self::BATCH, $stop, static fn () => $ready());
        try {
            $this->relay(0, self::BATCH)->drain();
        } catch (Throwable $error) {
            $this->failures->add('the last rows wait for another relay', $error);
        }
    }

    /**
     * Until no row is left that is old enough, and that Redis takes.
     *
     * @param callable(): bool $stop
     * @param callable(int): void $moved hears how many rows are in Redis now
     *
     * @return int exit code: that of the last failure, if there was one
     */
    public function once(float $after, int $batch, callable $stop, callable $moved): int
    {
        $relay = $this->relay($after, $batch);
        $moved($relay->drain($stop));
        $relay->sweep();

        return $this->failures->exitCode();
    }

    private function relay(float $after, int $batch): Relay
    {
        return new Relay($this->database, fn (string $queue): DelayQueue => $this->target->open($queue), $batch, $after, $this->failures->add(...));
    }
}
