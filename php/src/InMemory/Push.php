<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\DuplicateJobException;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueFullException;

/**
 * Adds jobs, and knows the rules for ids that are taken, receipts and full queues.
 *
 * @internal
 */
final class Push
{
    private readonly Receipts $receipts;

    private readonly int $nowUs;

    public function __construct(private readonly Jobs $jobs, private readonly ?int $capacity = null)
    {
        $this->receipts = $jobs->receipts;
        $this->nowUs = $jobs->store->nowUs();
    }

    /**
     * All or none of them.
     *
     * @param list<Pushed> $pushed
     *
     * @return int of how many the id was taken, and what is there was kept
     *
     * @throws DuplicateJobException|QueueFullException when nothing has been added
     */
    public function all(array $pushed): int
    {
        $added = [];
        $new = $kept = $replaced = 0;
        foreach ($pushed as $one) {
            $id = $one->id();
            $old = $this->jobs->find($id);
            $isNamedAgain = isset($added[$id]);
            $isTaken = $this->isTaken($one);
            if ($old !== null || $isNamedAgain || $isTaken) {
                if ($one->onDuplicate === OnDuplicate::Fail) {
                    throw $this->duplicate($one, $pushed);
                }
                if ($one->onDuplicate === OnDuplicate::Keep || $isTaken && !$isNamedAgain && !$old?->isWaiting()) {
                    ++$kept;
                    continue;
                }
                if ($old?->lease !== null) {
                    throw $this->duplicate($one, $pushed);
                }
                ++$replaced;
            }
            $new += $old === null && !$isNamedAgain ? 1 : 0;
            $added[$id] = $one;
        }
        $this->checkCapacity($new, $pushed);
        foreach ($added as $one) {
            $this->put($one);
        }
        for (; $replaced > 0; --$replaced) {
            $this->jobs->add('replaced');
        }

        return $kept;
    }

    /**
     * Adds the jobs whose receipts the queue does not have.
     *
     * @param list<Pushed> $pushed
     *
     * @return array{int, int, int} as Testing::pushOnce() takes them
     */
    public function once(array $pushed): array
    {
        $added = $kept = $known = 0;
        foreach ($pushed as $one) {
            if ($this->receipts->has($one->receipt)) {
                ++$known;
                continue;
            }
            $old = $this->jobs->find($one->id());
            $isTaken = $this->isTaken($one);
            $replaces = $one->onDuplicate === OnDuplicate::Replace && ($old?->isWaiting() || $old?->isBuried && !$isTaken);
            if ($one->isReceiptOnly || $replaces || $old === null && !$isTaken) {
                ++$added;
                $this->put($one);
            } else {
                ++$kept;
            }
            if ($replaces) {
                $this->jobs->add('replaced');
            }
            $this->receipts->give($one->receipt, $this->nowUs);
            $this->jobs->know();
        }

        return [$added, $kept, $known];
    }

    private function isTaken(Pushed $one): bool
    {
        return $one->uniqueUs !== null && $this->receipts->isTaken($one->id(), $this->nowUs);
    }

    private function put(Pushed $one): void
    {
        if (!$one->isReceiptOnly) {
            Debounce::apply($one->entry, $this->jobs->find($one->id()), $this->nowUs);
            $this->jobs->put($one->entry);
        }
        if ($one->uniqueUs !== null) {
            $this->receipts->take($one->id(), $this->nowUs + $one->uniqueUs, $this->nowUs);
        }
    }

    /**
     * @param int $new how many of them have an id that is not there
     * @param list<Pushed> $pushed
     *
     * @throws QueueFullException
     */
    private function checkCapacity(int $new, array $pushed): void
    {
        $jobs = $this->jobs->count(null);
        if ($this->capacity === null || $new === 0 || $jobs + $new <= $this->capacity) {
            return;
        }
        $more = count($pushed);
        $what = $more === 1 ? "job '{$pushed[0]->id()}'" : "$more jobs";
        $why = "the queue holds $jobs jobs, and with $new more it would pass its capacity of $this->capacity";
        $full = new QueueFullException("pushing $what to queue '{$this->jobs->name}': $why");
        $full->redisCode = 'DQCAPACITY';
        throw $full;
    }

    /** @param list<Pushed> $pushed along with it */
    private function duplicate(Pushed $one, array $pushed): DuplicateJobException
    {
        $same = array_keys(array_filter($pushed, static fn (Pushed $other): bool => $other->id() === $one->id()));
        if (count($same) > 1) {
            return new DuplicateJobException("items $same[0] and $same[1] have the same id '{$one->id()}'");
        }
        $or = $one->uniqueUs === null ? '' : ', or its id is still taken';

        return new DuplicateJobException("job '{$one->id()}' is already in queue '{$this->jobs->name}'$or");
    }
}
