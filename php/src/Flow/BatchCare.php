<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\State;

/**
 * Cancels batches and members, and heals what no event tells of.
 *
 * @internal
 */
final class BatchCare
{
    private bool $hasTold = false;

    public function __construct(private readonly BatchStore $store)
    {
    }

    public function cancel(): int
    {
        $cancelled = $this->store->hold(function (BatchLock $lock): int {
            if ($lock->batch->stage === BatchStage::Closed) {
                return 0;
            }
            $lock->batch->stage = BatchStage::Cancelled;
            $lock->save();
            $cancelled = 0;
            while (($page = $this->store->page()) !== []) {
                $cancelled += $this->cancelPage($lock->batch, $page);
            }
            // Markers that somebody has kicked.
            $this->store->home->cancelGroup($this->store->name);
            $lock->end();

            return $cancelled;
        });
        $this->store->close();

        return $cancelled ?? 0;
    }

    /** @param list<string> $ids */
    public function cancelMembers(array $ids): int
    {
        $cancelled = $this->store->hold(function (BatchLock $lock) use ($ids): int {
            $this->open($lock->batch);
            $page = [];
            foreach ($ids as $id) {
                $marker = $this->store->peekMarker($id);
                $marker === null || $page[$id] = $marker->payload;
            }
            $this->cancelPage($lock->batch, $page);

            return count($page);
        });
        $this->store->close();

        return $cancelled ?? 0;
    }

    public function check(): int
    {
        $this->store->close();
        $batch = $this->store->definition();
        $healed = 0;
        // Members that start() has not pushed yet are not in their queues. Only another start(), or cancel(), goes on there.
        if ($batch !== null && !self::isStarting($batch)) {
            foreach ($this->store->pages() as $page) {
                $gone = $this->goneOf($batch, $page);
                $healed += $gone === [] ? 0 : $this->store->hold(fn (BatchLock $lock): int => $this->unmark($lock->batch, $gone)) ?? 0;
            }
            $this->store->close();
        }

        return $healed;
    }

    /**
     * Pushes the job of onFailure for the first member that is buried.
     *
     * @param array<array-key, array{string, string}> $page
     *
     * @return array<array-key, array{string, string}> members that are not in their queues
     */
    private function goneOf(BatchDefinition $batch, array $page): array
    {
        $gone = [];
        foreach ($page as $id => [$queue, $of]) {
            $there = $this->store->target($batch, (string) $queue)->peek((string) $id);
            if ($there === null) {
                $gone[$id] = [$queue, $of];
            } elseif ($there->state === State::Buried && $this->store->isMember($there) && $batch->failed !== null && !$this->hasTold) {
                $this->hasTold = true;
                BatchCall::pushFailed($batch->failed, $this->store, (string) $id, $queue, (string) $there->lastError);
            }
        }

        return $gone;
    }

    /**
     * While nobody adds members: those that an add() marks, and has not pushed yet, are not in their queues either.
     *
     * @param array<array-key, array{string, string}> $gone
     */
    private function unmark(BatchDefinition $batch, array $gone): int
    {
        $this->open($batch);
        $gone = array_filter($gone, static fn (array $marker): bool => !isset($batch->adding[$marker[1]]));
        $gone = $this->goneOf($batch, $gone);

        return $gone === [] ? 0 : $this->store->unmark(...array_map(strval(...), array_keys($gone)));
    }

    /** @param array<array-key, array{string, string}> $page */
    private function cancelPage(BatchDefinition $batch, array $page): int
    {
        $byQueue = [];
        foreach ($page as $id => [$queue]) {
            $target = $this->store->target($batch, (string) $queue);
            // Another job may have the id: then start() or add() was refused, or the member is gone.
            if ($this->store->isMember($target->peek((string) $id))) {
                $byQueue[$queue][] = (string) $id;
            }
        }
        $cancelled = 0;
        foreach ($byQueue as $queue => $ids) {
            $cancelled += $this->store->target($batch, (string) $queue)->cancel(...$ids);
        }
        $page === [] || $this->store->unmark(...array_map(strval(...), array_keys($page)));

        return $cancelled;
    }

    private function open(BatchDefinition $batch): void
    {
        if (self::isStarting($batch)) {
            throw new BatchHeld("start() of batch '{$this->store->name}' has not come to its end: call that again");
        }
    }

    private static function isStarting(BatchDefinition $batch): bool
    {
        return $batch->stage === BatchStage::Markers || $batch->stage === BatchStage::Members;
    }
}
