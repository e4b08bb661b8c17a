<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use DelayQueue\Database\Connection;
use DelayQueue\Exception;

/**
 * By how much the clock of a queue's Redis is ahead of the database's. All rows are placed by one difference, so their order is the database's.
 *
 * @internal
 */
final class Offsets
{
    /** Clocks drift apart: after so many nanoseconds it is measured again. */
    private const GOOD_FOR = 10_000_000_000;

    private const SAMPLES = 5;

    /** @var array<array-key, array{int, int}|null> microseconds and hrtime(), by queue; null: Redis has to answer first */
    private array $known = [];

    public function __construct(private readonly Connection $database, private readonly Dialect $dialect, private readonly Targets $targets)
    {
    }

    /** @return list<string> queues whose difference is to be measured again */
    public function old(): array
    {
        $old = array_filter($this->known, static fn (?array $known): bool => $known === null || hrtime(true) - $known[1] > self::GOOD_FOR);

        return array_map(strval(...), array_keys($old));
    }

    /**
     * In microseconds, at least.
     *
     * @throws Exception where Redis cannot be asked
     */
    public function of(string $queue): int
    {
        return ($this->known[$queue] ?? $this->measure($queue))[0];
    }

    /**
     * The database is asked first: a sample is too large by the way to Redis and never too small, so no job is early. The smallest is the best.
     *
     * @return array{int, int}
     *
     * @throws Exception
     */
    public function measure(string $queue): array
    {
        $this->known[$queue] = null;
        $offset = PHP_INT_MAX;
        for ($i = 0; $i < self::SAMPLES; $i++) {
            $here = (int) $this->database->rows("select {$this->dialect->now()} as now")[0]['now'];
            $offset = min($offset, (int) round($this->targets->queue($queue)->now() * 1e6) - $here);
        }

        return $this->known[$queue] = [$offset, hrtime(true)];
    }

    /** Redis has failed: it is asked again before rows of this queue are locked. */
    public function doubt(string $queue): void
    {
        $this->known[$queue] = null;
    }

    /** @return list<string> */
    public function queues(): array
    {
        return array_map(strval(...), array_keys($this->known));
    }
}
