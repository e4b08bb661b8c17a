<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\QueueInterface;
use DelayQueue\State;

/**
 * The jobs that stand for chains, or batches, as a whole: each kind is one group of its queue.
 *
 * @internal
 */
final class Unfinished
{
    private const PAGE = 200;

    /**
     * Read at once, because whoever goes through them may end some. From the last one to the first: one that ends moves those behind it towards the
     * beginning, where they are read again, and none is missed.
     *
     * @return list<string> the ids of those that this queue can read; others have other keys
     */
    public static function ids(QueueInterface $home, string $group): array
    {
        $stats = $home->groupStats($group);
        $ids = [];
        foreach ([[State::Reserved, $stats->reserved], [State::Delayed, $stats->waiting]] as [$state, $count]) {
            for ($page = intdiv($count, self::PAGE); $page >= 0; $page--) {
                foreach (array_reverse($home->list($state, $page * self::PAGE, self::PAGE, group: $group)) as $job) {
                    $job->sealError === null && $ids[] = $job->id;
                }
            }
        }

        return array_reverse(array_values(array_unique($ids)));
    }
}
