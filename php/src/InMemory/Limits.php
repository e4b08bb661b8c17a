<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

/**
 * The limits of a loop; 0: none.
 *
 * @internal
 */
final class Limits
{
    public function __construct(
        public readonly float $idleTimeout = 5.0,
        public readonly int $maxJobs = 0,
        public readonly float $maxTime = 0.0,
        public readonly int $memoryLimit = 0,
        public readonly bool $stopWhenEmpty = false,
        public readonly bool $heartbeat = true,
    ) {
    }
}
