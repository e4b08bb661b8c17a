<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use ValueError;

/**
 * Looks at a chain from outside, while workers may be moving it on: Chain::status(), check() and cancel().
 *
 * @internal
 */
final class ChainWatch
{
    private readonly ChainStore $store;

    /** @throws ValueError when no chain can have this id */
    public function __construct(QueueInterface $queue, private readonly string $chain, string $method)
    {
        $must = match (true) {
            $chain === '' || strlen($chain) > Chain::MAX_ID => 'be between 1 and ' . Chain::MAX_ID . ' bytes long',
            preg_match('/[\x00-\x1F\x7F]/', $chain) === 1 => 'have no control characters',
            default => null,
        };
        $must === null || throw new ValueError(Chain::class . "::$method(): Argument #2 (\$id) must $must");
        $this->store = new ChainStore($queue);
    }

    public function status(): ?ChainStatus
    {
        $entry = $this->store->entry($this->chain);
        if ($entry === null) {
            return null;
        }
        [$link, $job] = self::current($entry, $this->store->next($entry));

        return $entry->status($link, $job);
    }

    public function check(): ?ChainStatus
    {
        while (($entry = $this->store->entry($this->chain)) !== null) {
            $next = $this->store->next($entry);
            [$link, $job] = self::current($entry, $next);
            if ($job?->state === State::Buried) {
                $this->store->fail($link, $job->queue, $job->lastError);
            }
            if ($job !== null) {
                return $entry->status($link, $job);
            }
            if ($next?->link === 1) {
                $this->store->push($next);
            } elseif (!$this->hasMovedOn($entry, $next)) {
                $this->store->fail($link, $entry->target($link)->name(), 'the job is gone: it was cancelled by its id, purged, dropped or moved');
                $this->store->forget($link);

                return $entry->status($link, null);
            }
        }

        return null;
    }

    public function cancel(): int
    {
        $entry = $this->store->entry($this->chain);
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
            if ($job?->state === State::Reserved) {
                $cancelled -= $number === $next ? 1 : 0;
            } elseif ($job !== null) {
                $count = $entry->target($link)->cancel($job->id);
                $cancelled += $number === $next ? 0 : $count;
            }
        }

        return $cancelled;
    }

    /**
     * The link that is in its queue, or was there last. If a worker was killed when it had pushed the next one, that is the next one.
     *
     * @return array{ChainMark, JobInfo|null}
     */
    private static function current(ChainEntry $entry, ?ChainMark $next): array
    {
        $link = $entry->first->at(max(1, ($next?->link ?? $entry->first->of + 1) - 1));
        $job = $entry->job($link);
        $nextJob = $job === null && $next !== null ? $entry->job($next) : null;

        return $nextJob === null ? [$link, $job] : [$next, $nextJob];
    }

    /** Whether a link that is not in its queue has been handled: the next one is on its way, or the chain has ended. */
    private function hasMovedOn(ChainEntry $entry, ?ChainMark $next): bool
    {
        return $next === null
            ? $this->store->entry($entry->first->chain)?->first->run !== $entry->first->run
            : !$this->store->isToCome($next);
    }
}
