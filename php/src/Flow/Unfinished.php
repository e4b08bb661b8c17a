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
     * Read at once, because whoever goes through them may end some.
     *
     * @return list<string> the ids of those that this queue can read; others have other keys
     */
    public static function ids(QueueInterface $home, string $group): array
    {
        $ids = [];
        foreach ([State::Reserved, State::Delayed] as $state) {
            for ($offset = 0; ($page = $home->list($state, $offset, self::PAGE, group: $group)) !== []; $offset += self::PAGE) {
                foreach ($page as $job) {
                    $job->sealError === null && $ids[] = $job->id;
                }
            }
        }

        return array_values(array_unique($ids));
    }
}
