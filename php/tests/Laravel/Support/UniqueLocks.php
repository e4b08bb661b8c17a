<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use DelayQueue\Laravel\Facades\DelayQueue;

/** Whether the lock of a unique job is held: another one that wants it comes into a queue of its own, or not. */
trait UniqueLocks
{
    private function assertLocked(string $name): void
    {
        $this->probe($name);
        self::assertNull($this->queue()->native('probe')->peek("probe-$name"), "$name is locked");
    }

    private function assertUnlocked(string $name): void
    {
        $this->probe($name);
        self::assertSame(1, DelayQueue::cancel("probe-$name", 'probe'), "$name is not locked");
    }

    private function probe(string $name): void
    {
        UniqueDeed::dispatch($name)->onQueue('probe')->delay(60)->identifiedBy("probe-$name");
    }
}
