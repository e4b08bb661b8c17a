<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

/** How far a batch is: see Batch::progress(). */
final class BatchProgress
{
    /** @var int<0, max> members that are done, or were cancelled */
    public readonly int $done;

    /** 0.0 to 1.0 of the members are done. */
    public readonly float $share;

    /**
     * @internal
     *
     * @param int<0, max> $total members, with those that were added
     * @param int<0, max> $waiting members that are not done: delayed, ready, in the hands of a worker, or buried
     */
    public function __construct(public readonly int $total, public readonly int $waiting)
    {
        $this->done = max(0, $total - $waiting);
        $this->share = $total === 0 ? 1.0 : $this->done / $total;
    }
}
