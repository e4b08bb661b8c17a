<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\QueueInterface;
use DelayQueue\State;

/**
 * Looks at a chain from outside, while workers may be moving it on: Chain::status(), check() and cancel().
 *
 * @internal
 */
final class ChainWatch
{
    private readonly ChainStore $store;

    public function __construct(QueueInterface $queue)
    {
        $this->store = new ChainStore($queue);
    }

    public function status(string $chain): ?ChainStatus
    {
        $entry = $this->store->entry($chain);
        if ($entry === null) {
            return null;
        }
        $link = self::before($this->store->next($entry), $entry);

        return $entry->status($link, $entry->job($link));
    }

    public function check(string $chain): ?ChainStatus
    {
        while (($entry = $this->store->entry($chain)) !== null) {
            $next = $this->store->next($entry);
            if ($next?->link === 1) {
                $this->store->push($next);
                continue;
            }
            $link = self::before($next, $entry);
            $job = $entry->job($link);
            if ($job?->state === State::Buried) {
                $this->store->fail($link, $job->queue, $job->lastError);
            }
            if ($job !== null) {
                return $entry->status($link, $job);
            }
            if (!$this->hasMovedOn($entry, $next)) {
                $this->store->fail($link, $entry->target($link)->name(), 'the job is gone: it was cancelled by its id, purged, dropped or moved');
                $this->store->forget($link);

                return $entry->status($link, null);
            }
        }

        return null;
    }

    public function cancel(string $chain): int
    {
        $entry = $this->store->entry($chain);
        if ($entry === null) {
            return 0;
        }
        $of = $entry->first->of;
        $cancelled = $waiting = $this->store->forget($entry->first);
        $next = $of - $waiting + 1;
        // The link that is in its queue, and one that a worker may just have pushed.
        foreach (range(max(1, $next - 1), min($next, $of)) as $number) {
            $link = $entry->first->at($number);
            $job = $entry->job($link);
            if ($job !== null) {
                $isCancelled = $job->state !== State::Reserved && $entry->target($link)->cancel($job->id) > 0;
                $cancelled += (int) $isCancelled - (int) ($number === $next);
            }
        }

        return $cancelled;
    }

    /** The link that is in its queue, if this one is the next to come. */
    private static function before(?ChainMark $next, ChainEntry $entry): ChainMark
    {
        return $entry->first->at($next === null ? $entry->first->of : max(1, $next->link - 1));
    }

    /** Whether a link that is not in its queue has been handled: the next one is on its way, or the chain has ended. */
    private function hasMovedOn(ChainEntry $entry, ?ChainMark $next): bool
    {
        if ($next === null) {
            return $this->store->entry($entry->first->chain)?->first->run !== $entry->first->run;
        }
        if (!$this->store->isToCome($next)) {
            return true;
        }
        // It was pushed, and then the worker was killed.
        $isPushed = $entry->job($next) !== null;
        if ($isPushed) {
            $this->store->drop($next);
        }

        return $isPushed;
    }
}
