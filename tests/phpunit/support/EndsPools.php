<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

/** Waits until the workers of a parent are ready, and ends the parent. */
trait EndsPools
{
    /** @return list<int> the processes, once so many are ready */
    private function ready(Process $parent, int $number = 2): array
    {
        return Wait::until(static function () use ($parent, $number): ?array {
            preg_match_all('/\(process (\d+)\) is ready/', $parent->errors(), $found);

            return count($found[1]) >= $number ? array_map(intval(...), $found[1]) : null;
        }, 20, "$number workers are ready");
    }

    private function endWell(Process $parent): void
    {
        $parent->signal(SIGTERM);
        $this->assertSame(0, $parent->exitCode(20), $parent->errors());
    }
}
