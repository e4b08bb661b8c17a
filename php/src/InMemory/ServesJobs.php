<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\OnExpiry;
use DelayQueue\State;

/**
 * Which jobs of a queue are next, and when there may be some.
 *
 * @internal
 */
trait ServesJobs
{
    /** At so many jobs that are too late a reserve looks at once. */
    private const LATE_AT_ONCE = 500;

    /** @return list<Entry> up to so many that fell due by then, whatever their priority */
    public function dueBy(int $untilUs, int $most): array
    {
        $waiting = [...$this->in(State::Ready), ...$this->in(State::Delayed)];
        $due = array_filter($waiting, static fn (Entry $entry): bool => $entry->dueUs <= $untilUs);
        usort($due, static fn (Entry $a, Entry $b): int => $a->dueUs <=> $b->dueUs ?: strcmp($a->info->id, $b->info->id));

        $found = [];
        $nowUs = $this->store->nowUs();
        foreach ($this->isPaused() ? [] : $due as $entry) {
            if (count($found) >= $most) {
                break;
            }
            if (!$this->endsLate($entry, $nowUs)) {
                $found[] = $entry;
            }
        }

        return $found;
    }

    /** Ends a waiting job that may not be started any more: buried, or removed. */
    public function endsLate(Entry $entry, int $nowUs): bool
    {
        $isExpired = $entry->isExpiredAt($nowUs);
        if ($isExpired && $entry->onExpiry === OnExpiry::Drop) {
            $this->remove($entry, 'dropped');
        } elseif ($isExpired || $entry->isTooLateAt($nowUs)) {
            $this->leaves($entry);
            $entry->bury($isExpired ? 'expired' : $entry->reasonOfEnd((string) $entry->info->lastError), $nowUs);
            $this->add('expired');
        } else {
            return false;
        }

        return true;
    }

    /** @return list<Entry> the next to be leased together */
    public function next(int $most): array
    {
        do {
            $nowUs = $this->store->nowUs();
            $this->gates->writeOff(Gates::QUEUE, $nowUs);
            $room = min($most, $this->gates->most(Gates::QUEUE, $this->held(), $nowUs));
            if ($room === 0) {
                return [];
            }
            $turns = new Turns($this, $nowUs);
            // Where there are groups, jobs that end late leave a gap, as on Redis; where all of them do, it looks once at many more.
            $hasGroups = $this->hasGroups();
            [$next, $late] = $this->together($hasGroups ? $turns->first($room) : $turns->jobs(), $room, $nowUs);
            if ($hasGroups && $next === [] && $late > 0 && $late < self::LATE_AT_ONCE) {
                $further = (new Turns($this, $nowUs))->first(self::LATE_AT_ONCE - $late);
                $next = $this->together($further, $room, $nowUs)[0];
            }
        } while ($next === [] && $late > 0);

        return $next;
    }

    /**
     * The jobs that may be leased together; others are too late, and end.
     *
     * @param iterable<Entry> $jobs
     *
     * @return array{list<Entry>, int} and how many were too late
     */
    private function together(iterable $jobs, int $most, int $nowUs): array
    {
        [$next, $late] = [[], 0];
        foreach ($jobs as $entry) {
            if ($this->endsLate($entry, $nowUs)) {
                ++$late;
                continue;
            }
            if ($next !== [] && $entry->isAlone()) {
                break;
            }
            $next[] = $entry;
            if ($entry->isAlone() || count($next) === $most) {
                break;
            }
        }

        return [$next, $late];
    }

    /** When there may be something to do, in Unix microseconds; null: nothing is coming. */
    public function nextMomentUs(): ?int
    {
        $nowUs = $this->store->nowUs();
        $pausedUs = $this->gates->closedUntilUs(Gates::QUEUE, $nowUs) ?? 0;
        $moments = [];
        $opensUs = $this->gates->momentUs(Gates::QUEUE, $this->held(), $nowUs);
        foreach ($this->entries as $entry) {
            if ($entry->lease !== null) {
                $moments[] = max($pausedUs, $entry->lease->endsAtUs());
            } elseif ($entry->isWaiting() && $entry->info->group === null) {
                $moments[] = max($opensUs, $entry->dueUs);
            }
        }
        foreach ($this->groups() as $group) {
            $moments[] = max($opensUs, $this->group($group, $nowUs)->momentUs());
        }

        return $moments === [] || min($moments) === PHP_INT_MAX ? null : min($moments);
    }

    private function held(): int
    {
        return count($this->having(State::Reserved));
    }
}
