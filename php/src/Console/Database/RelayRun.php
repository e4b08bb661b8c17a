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

    /** So many looks in a row may bring nothing to Redis and fail. Each leaves out what has failed in the one before. */
    private const VAIN_LOOKS = 5;

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
        $anywhere = $this->target->anywhere();
        $ready("rows of {$this->database->driver()} go to {$anywhere->dsn()}, prefix {$anywhere->prefix()}");
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
            $this->takeAll(0, self::BATCH, static fn (): bool => false);
        } catch (Throwable $error) {
            $this->failures->add('the last rows wait for another relay', $error);
        }
    }

    /**
     * Until no row is left that is old enough, and that Redis takes.
     *
     * @param callable(): bool $stop
     *
     * @return int exit code: that of the last failure, if there was one
     */
    public function once(float $after, int $batch, callable $stop): int
    {
        $this->takeAll($after, $batch, $stop)->sweep();

        return $this->failures->exitCode();
    }

    /**
     * Until a batch is not full, for others may insert all the time. After a failure it looks again, for rows behind those that have failed.
     *
     * @param callable(): bool $stop
     */
    private function takeAll(float $after, int $batch, callable $stop): Relay
    {
        $relay = $this->relay($after, $batch);
        for ($vain = 0; $vain < self::VAIN_LOOKS && !$stop();) {
            $failure = $this->failures->last();
            $moved = $relay->runOnce();
            if ($moved < $batch && $this->failures->last() === $failure) {
                break;
            }
            $vain = $moved === 0 ? $vain + 1 : 0;
        }

        return $relay;
    }

    private function relay(float $after, int $batch): Relay
    {
        return new Relay($this->database, fn (string $queue): DelayQueue => $this->target->open($queue), $batch, $after, $this->failures->add(...));
    }
}
