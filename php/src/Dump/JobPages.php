<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;

/**
 * All jobs of one state, page by page: each begins behind the place of the last job of the one before. So a job that keeps its state and its place
 * is there once, whatever comes and goes meanwhile.
 *
 * @internal
 */
final class JobPages
{
    /** @param positive-int $size */
    public function __construct(private readonly QueueInterface $queue, private readonly int $size = 200)
    {
    }

    /** @return iterable<JobInfo> */
    public function of(State $state): iterable
    {
        foreach ($this->pages($state) as $page) {
            yield from $page;
        }
    }

    /**
     * @param JobInfo|string|null $after only jobs behind this one, or this place; it is in this state
     *
     * @return iterable<non-empty-list<JobInfo>>
     */
    public function pages(State $state, JobInfo|string|null $after = null): iterable
    {
        if ($state === State::Reserved) {
            // A renewed lease is another place, and there are no more of them than workers hold: all at once, each by its id.
            $held = [];
            foreach ($this->queue->list($state, 0, 1_000_000, $after) as $job) {
                $held[$job->id] = $job;
            }
            yield from array_chunk($held, $this->size);

            return;
        }
        for ($last = $after; ($page = $this->queue->list($state, 0, $this->size, $last)) !== []; $last = end($page)) {
            yield $page;
        }
    }
}
