<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DateInterval;
use DateTimeInterface;
use DelayQueue\JobInfo;
use DelayQueue\State;
use DelayQueue\Stats;

/**
 * Operations of an InMemoryQueue on jobs that nobody holds, by their ids or states.
 *
 * @internal
 */
trait LooksAtJobs
{
    public function peek(string $id): ?JobInfo
    {
        return $this->look($this->jobs->find($this->arguments->id($id, 'peek')));
    }

    public function cancel(string ...$ids): int
    {
        $found = [];
        foreach (array_values($ids) as $index => $id) {
            $entry = $this->jobs->find($this->arguments->id($id, 'cancel', 'Argument #' . ($index + 1)));
            $found += $entry === null ? [] : [$entry->info->id => $entry];
        }
        $this->jobs->removeAll($found);

        return count($found);
    }

    public function reschedule(string $id, int|float|string|DateInterval|DateTimeInterface $delay): bool
    {
        $entry = $this->jobs->find($this->arguments->id($id, 'reschedule'));
        $dueUs = $this->arguments->dueUs($delay, $this->store->nowUs(), 'reschedule', 2);
        if ($entry === null || $entry->lease !== null) {
            return false;
        }
        $this->jobs->leaves($entry);
        $entry->reschedule($dueUs);
        $this->jobs->waits($entry);

        return true;
    }

    public function update(string $id, mixed $payload, ?array $headers = null): bool
    {
        $entry = $this->jobs->find($this->arguments->id($id, 'update'));
        $new = $this->arguments->checked(['payload' => $payload, 'headers' => $headers ?? []], 'update', ['payload' => 2, 'headers' => 3]);
        if ($entry === null || $entry->lease !== null) {
            return false;
        }
        Hold::update($entry, $new->payload, $new->body, $headers === null ? null : $new->headers);

        return true;
    }

    public function kickJob(string $id, bool $resetAttempts = true): bool
    {
        $entry = $this->jobs->find($this->arguments->id($id, 'kickJob'));
        $state = $entry?->state($this->store->nowUs());
        if ($entry === null || $state !== State::Buried && $state !== State::Delayed) {
            return false;
        }
        $this->makeReady($entry, $resetAttempts);

        return true;
    }

    public function peekReady(): ?JobInfo
    {
        return $this->look($this->jobs->first(State::Ready));
    }

    public function peekDelayed(): ?JobInfo
    {
        return $this->look($this->jobs->first(State::Delayed));
    }

    public function peekBuried(): ?JobInfo
    {
        return $this->look($this->jobs->first(State::Buried));
    }

    public function list(
        State $state,
        int $offset = 0,
        int $limit = 100,
        JobInfo|string|null $after = null,
        ?string $group = null,
    ): array {
        $this->arguments->atLeast(0, $offset, 'list', 'Argument #2 ($offset)');
        $this->arguments->atLeast(1, $limit, 'list', 'Argument #3 ($limit)');
        if ($group !== null) {
            return array_map($this->look(...), array_slice($this->ofGroup($group, $state, $after), $offset, $limit));
        }
        $found = $this->jobs->in($state, self::place($state, $after));

        return array_map($this->look(...), array_slice($found, $offset, $limit));
    }

    public function count(?State $state = null): int
    {
        return $this->jobs->count($state);
    }

    public function countDue(DateTimeInterface ...$until): array
    {
        return array_map(
            fn (DateTimeInterface $moment): int => $this->jobs->countDue(Arguments::momentUs($moment)),
            array_values($until),
        );
    }

    public function kick(int $max = 1, bool $resetAttempts = true): int
    {
        $this->arguments->atLeast(1, $max, 'kick', 'Argument #1 ($max)');
        $kicked = array_slice($this->jobs->in(State::Buried), 0, $max);
        $this->store->atOnce(fn () => array_map(fn (Entry $entry) => $this->makeReady($entry, $resetAttempts), $kicked));

        return count($kicked);
    }

    public function purge(State ...$states): int
    {
        $removed = 0;
        foreach ($states === [] ? State::cases() : $states as $state) {
            $found = $this->jobs->in($state);
            $this->jobs->removeAll($found);
            $removed += count($found);
        }

        return $removed;
    }

    public function forget(): bool
    {
        return $this->jobs->forget();
    }

    public function stats(): Stats
    {
        return $this->jobs->stats();
    }

    public function now(): float
    {
        return $this->store->nowUs() / 1_000_000;
    }

    public function queues(): array
    {
        return $this->store->names();
    }

    private function makeReady(Entry $entry, bool $resetAttempts): void
    {
        $nowUs = $this->store->nowUs();
        $entry->change(['kicks' => $entry->info->kicks + 1] + ($resetAttempts ? ['attempts' => 0, 'timeouts' => 0] : []));
        $entry->fallDueFirst($nowUs);
        $entry->wait($nowUs);
        $this->jobs->waits($entry);
    }

    private function look(?Entry $entry): ?JobInfo
    {
        return $this->arguments->read($this->jobs->look($entry));
    }

    /** @return array{int, int, string}|null priority, microseconds, id of JobInfo::place() */
    private static function place(State $state, JobInfo|string|null $after): ?array
    {
        if ($after === null) {
            return null;
        }
        $place = $after instanceof JobInfo ? $after->place() : $after;
        if (preg_match('/^(delayed|ready|reserved|buried)\.(\d+)\.(-?\d+)\.\d+\.(.+)$/sD', $place, $found) !== 1) {
            throw Arguments::error('list', 'Argument #4 ($after)', 'must be a job, or the place of one');
        }
        if ($found[1] !== $state->value) {
            throw Arguments::error('list', 'Argument #4 ($after)', 'must be a job in the state that is listed');
        }

        return [(int) $found[2], (int) $found[3], $found[4]];
    }
}
