<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue;

/** One round of a worker: from its first pop to the job, or to none. */
final class WorkerLoop
{
    public bool $hasAsked = false;

    public ?DelayQueue $waitsOn = null;

    /** @param list<string>|null $queues null: each pop asks for its own, and does not wait */
    public function __construct(public readonly ?array $queues, public readonly int|float $seconds)
    {
    }
}
