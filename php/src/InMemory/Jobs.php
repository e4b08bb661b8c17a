<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\JobInfo;
use DelayQueue\State;
use DelayQueue\Stats;
use DelayQueue\Testing;

/** The jobs of one queue, in the order in which Redis shows them. Every look begins with the leases that are over. */
final class Jobs
{
    use KeepsGroups;
    use ServesJobs;

    /** @var array<array-key, Entry> by their ids */
    private array $entries = [];

    /** @var array{acked: int, failed: int, givenUp: int, timedOut: int, cancelled: int, expired: int, dropped: int, replaced: int} since the queue was made */
    private array $counters = self::NOTHING;

    private const NOTHING = [
        'acked' => 0, 'failed' => 0, 'givenUp' => 0, 'timedOut' => 0, 'cancelled' => 0, 'expired' => 0, 'dropped' => 0, 'replaced' => 0,
    ];

    private bool $isKnown = false;

    public int $lastToken = 0;

    public readonly Receipts $receipts;

    public function __construct(public readonly string $name, public readonly Store $store)
    {
        $this->receipts = new Receipts();
        $this->gates = new Gates();
        $this->line = new Line($this->gates);
    }

    public function isKnown(): bool
    {
        return $this->isKnown;
    }

    /** Somebody has pushed to it, though it may have got no job. */
    public function know(): void
    {
        $this->isKnown = true;
    }

    /** @return bool false: it has jobs, limits or receipts, an id is taken, or it or a group of it is paused */
    public function forget(): bool
    {
        $nowUs = $this->store->nowUs();
        if ($this->entries !== [] || !$this->gates->areOpen($nowUs) || !$this->receipts->isEmpty($nowUs)) {
            return false;
        }
        [$this->isKnown, $this->counters, $this->lastToken] = [false, self::NOTHING, 0];
        $this->line->forget();

        return true;
    }

    public function find(string $id): ?Entry
    {
        $this->reclaim();

        return $this->entries[$id] ?? null;
    }

    public function put(Entry $entry): void
    {
        $this->know();
        $old = $this->entries[$entry->info->id] ?? null;
        $this->entries[$entry->info->id] = $entry;
        // At one moment, so that the group it leaves and the one it enters stand in line as on Redis.
        $this->store->atOnce(function () use ($entry, $old): void {
            $this->waits($entry);
            if ($old !== null) {
                $this->leaves($old);
            }
        });
    }

    /** @param string $as the counter of what becomes of it */
    public function remove(Entry $entry, string $as): void
    {
        unset($this->entries[$entry->info->id]);
        $wasHeld = $entry->lease !== null;
        $entry->lease = null;
        $this->add($as);
        $wasHeld ? $this->letIn($entry->info->group) : $this->leaves($entry);
    }

    /** @param array<array-key, Entry> $entries that somebody cancels */
    public function removeAll(array $entries): void
    {
        $this->store->atOnce(fn () => array_map(fn (Entry $entry) => $this->remove($entry, 'cancelled'), $entries));
    }

    public function add(string $counter): void
    {
        ++$this->counters[$counter];
    }

    /**
     * @param array{int, int, string}|null $after priority, microseconds, id: those behind this place
     *
     * @return list<Entry> in their order: of serving, by due time, by the end of the lease, oldest first
     */
    public function in(State $state, ?array $after = null): array
    {
        $found = $this->having($state);
        if ($after !== null) {
            $after[0] = $state === State::Ready ? $after[0] : 0;
            $isBehind = static fn (Entry $entry): bool => self::compare(self::placeOf($state, $entry), $after) > 0;
            $found = array_filter($found, $isBehind);
        }
        usort($found, static fn (Entry $a, Entry $b): int => self::compare(self::placeOf($state, $a), self::placeOf($state, $b)));

        return $found;
    }

    public function first(State $state): ?Entry
    {
        $first = null;
        foreach ($this->having($state) as $entry) {
            $first = $first === null || self::compare(self::placeOf($state, $entry), self::placeOf($state, $first)) < 0 ? $entry : $first;
        }

        return $first;
    }

    /** How many jobs that nobody holds are due before this moment. */
    public function countDue(int $untilUs): int
    {
        return count(array_filter($this->entries, static fn (Entry $entry): bool => $entry->isWaiting() && $entry->dueUs < $untilUs));
    }

    /** @return array<array-key, Entry> */
    public function having(State $state): array
    {
        $nowUs = $this->store->nowUs();
        $this->reclaim();

        return array_filter($this->entries, static fn (Entry $entry): bool => $entry->state($nowUs) === $state);
    }

    /** @return array{int, int, string} the place of a job in the order of a state */
    private static function placeOf(State $state, Entry $entry): array
    {
        $priority = $entry->info->group === null ? $entry->info->priority : Turns::DEFAULT_PRIORITY;

        return [$state === State::Ready ? $priority : 0, $entry->lease?->endsAtUs() ?? $entry->dueUs, $entry->info->id];
    }

    /**
     * @param array{int, int, string} $a
     * @param array{int, int, string} $b
     */
    private static function compare(array $a, array $b): int
    {
        return $a[0] <=> $b[0] ?: $a[1] <=> $b[1] ?: strcmp($a[2], $b[2]);
    }

    public function isPaused(): bool
    {
        return $this->gates->closedUntilUs(Gates::QUEUE, $this->store->nowUs()) !== null;
    }

    public function look(?Entry $entry): ?JobInfo
    {
        return $entry?->look($this->store->nowUs());
    }

    public function count(?State $state): int
    {
        $this->reclaim();

        return $state === null ? count($this->entries) : count($this->in($state));
    }

    public function stats(): Stats
    {
        $nowUs = $this->store->nowUs();
        $ready = $this->in(State::Ready);
        $free = array_filter($ready, static fn (Entry $entry): bool => $entry->info->group === null);
        foreach ($this->groups() as $name) {
            $group = $this->group($name, $nowUs);
            if ($group->momentUs() <= $nowUs) {
                while (($entry = $group->due->take()) !== null) {
                    $free[] = $entry;
                }
            }
        }
        $delayed = $this->in(State::Delayed);
        ['replaced' => $replaced, 'givenUp' => $givenUp, 'dropped' => $dropped] = $counters = $this->counters;
        unset($counters['replaced'], $counters['givenUp'], $counters['dropped']);

        return Testing::stats([
            'delayed' => count($delayed),
            'ready' => count($ready),
            'reserved' => count($this->in(State::Reserved)),
            'buried' => count($this->in(State::Buried)),
            'pushed' => count($this->entries) + $counters['acked'] + $givenUp + $counters['cancelled'] + $replaced + $dropped,
            'expired' => $counters['expired'] + $dropped,
            'blocked' => count($ready) - count($free),
            'oldestReadyAge' => $free === [] ? null : max(0, $nowUs - min(array_map(static fn (Entry $entry): int => $entry->dueUs, $free))) / 1_000_000,
            'nextDueAt' => $delayed === [] ? null : $delayed[0]->dueUs / 1_000_000,
            'paused' => $this->isPaused(),
            'workers' => [], // none is listed
        ] + $counters, $this->name);
    }

    /**
     * Jobs whose lease is over come back to their old place, or are buried when no attempt is left. The handler of one
     * that was leased behind another may not have begun: it has used up no attempt, and is leased alone next time.
     */
    public function reclaim(): void
    {
        $nowUs = $this->store->nowUs();
        $isOver = static fn (Entry $entry): bool => $entry->lease !== null && $entry->lease->endsAtUs() <= $nowUs;
        $this->store->atOnce(fn () => array_map($this->expire(...), array_filter($this->entries, $isOver)));
    }

    private function expire(Entry $entry): void
    {
        $nowUs = $this->store->nowUs();
        $entry->comeBack();
        ['attempts' => $attempts, 'timeouts' => $timeouts] = get_object_vars($entry->info);
        $attempts += $entry->lease?->isBehind ? 0 : 1;
        $entry->change(['attempts' => $attempts, 'timeouts' => $timeouts + 1, 'lastError' => 'lease expired']);
        $this->add('timedOut');
        $isOver = $entry->isSpent() || $entry->isTooLateAt(max($nowUs, $entry->dueUs));
        $isOver ? $entry->bury(sprintf('lease expired, held by %s:%d', gethostname(), getmypid()), $nowUs) : $entry->wait($entry->dueUs);
        $this->comesBack($entry);
    }
}
