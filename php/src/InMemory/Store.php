<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use Closure;
use DelayQueue\Testing;

/** The queues of some InMemoryQueue objects, as a Redis holds those of DelayQueue objects, and their one clock. */
final class Store
{
    /** @var array<array-key, Jobs> by the names of their queues */
    private array $queues = [];

    private int $lastUs = 0;

    private float $lastOffset = 0.0;

    /** The clock does, during atOnce(). */
    private bool $stands = false;

    public function queue(string $name): Jobs
    {
        return $this->queues[$name] ??= new Jobs($name, $this);
    }

    /** @return list<string> the queues that have been pushed to */
    public function names(): array
    {
        $names = array_map(strval(...), array_keys(array_filter($this->queues, static fn (Jobs $jobs): bool => $jobs->isKnown())));
        sort($names, SORT_STRING);

        return $names;
    }

    /** Unix microseconds, moved as Testing says: each later than the one before, so that jobs keep the order of their pushes. */
    public function nowUs(): int
    {
        if ($this->stands) {
            return $this->lastUs;
        }
        $offset = Testing::offset();
        $nowUs = self::us(microtime(true)) + self::us($offset);
        if ($offset === $this->lastOffset) {
            $nowUs = max($nowUs, $this->lastUs + 1);
        }
        [$this->lastUs, $this->lastOffset] = [$nowUs, $offset];

        return $nowUs;
    }

    /**
     * All of it at one moment, as a script of Redis.
     *
     * @template T
     *
     * @param Closure(): T $call
     *
     * @return T
     */
    public function atOnce(Closure $call): mixed
    {
        [$this->lastUs, $stood, $this->stands] = [$this->nowUs(), $this->stands, true];
        try {
            return $call();
        } finally {
            $this->stands = $stood;
        }
    }

    /** Seconds as microseconds. */
    public static function us(float $seconds): int
    {
        return (int) round($seconds * 1_000_000);
    }
}
