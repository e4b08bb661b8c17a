<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;

/**
 * All jobs of one state, page by page.
 *
 * Jobs leave the front of a list while it is being read, because they fall due or are done, and what was at position 200
 * is then at 190. So each page begins a little before the end of the last one, and goes back further until it meets
 * a job of that one.
 *
 * @internal
 */
final class JobPages
{
    /** @param int<4, max> $size */
    public function __construct(private readonly QueueInterface $queue, private readonly int $size = 200)
    {
    }

    /** @return iterable<JobInfo> */
    public function of(State $state): iterable
    {
        if ($state === State::Reserved) {
            // Renewed leases change their order, and there are no more of them than workers hold: all at once.
            yield from $this->queue->list($state, 0, 1_000_000);

            return;
        }
        for ($offset = 0, $last = []; ;) {
            $page = $this->queue->list($state, $offset, $this->size);
            $met = array_filter($page, static fn (JobInfo $job): bool => isset($last[$job->id]));
            if ($met === [] && $offset > 0) {
                $offset = max(0, $offset - $this->size);
                continue;
            }
            yield from array_slice($page, $met === [] ? 0 : array_key_last($met) + 1);
            if (count($page) < $this->size && $this->queue->list($state, $offset + $this->size, 1) === []) {
                return;
            }
            $last = array_fill_keys(array_column($page, 'id'), true);
            $offset += $this->size - intdiv($this->size, 4);
        }
    }
}
