<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DateInterval;
use DateTimeInterface;
use DelayQueue\Backoff;
use DelayQueue\DuplicateJobException;
use DelayQueue\JobInfo;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\PreparedJob;
use DelayQueue\PushOnce;
use DelayQueue\State;
use DelayQueue\Testing;

/**
 * How jobs come into an InMemoryQueue, and what it keeps of them.
 *
 * @internal
 */
trait PushesJobs
{
    public function push(
        mixed $payload,
        int|float|string|DateInterval|DateTimeInterface $delay = 0,
        ?string $id = null,
        ?int $priority = null,
        int|float|string|DateInterval|null $ttr = null,
        ?int $maxAttempts = null,
        ?Backoff $backoff = null,
        int|float|string|DateInterval|null $timeout = null,
        OnDuplicate $onDuplicate = OnDuplicate::Fail,
        array $headers = [],
        int|float|string|DateInterval|null $unique = null,
        int|float|string|DateInterval|null $maxWait = null,
        int|float|string|DateInterval|DateTimeInterface|null $expires = null,
        OnExpiry $onExpiry = OnExpiry::Bury,
        int|float|string|DateInterval|DateTimeInterface|null $retryUntil = null,
        ?string $group = null,
    ): string {
        $job = $this->pushed(get_defined_vars(), 'push');
        $this->adding()->all([$job]);

        return $job->id();
    }

    public function tryPush(
        mixed $payload,
        int|float|string|DateInterval|DateTimeInterface $delay = 0,
        ?string $id = null,
        ?int $priority = null,
        int|float|string|DateInterval|null $ttr = null,
        ?int $maxAttempts = null,
        ?Backoff $backoff = null,
        int|float|string|DateInterval|null $timeout = null,
        OnDuplicate $onDuplicate = OnDuplicate::Fail,
        array $headers = [],
        int|float|string|DateInterval|null $unique = null,
        int|float|string|DateInterval|null $maxWait = null,
        int|float|string|DateInterval|DateTimeInterface|null $expires = null,
        OnExpiry $onExpiry = OnExpiry::Bury,
        int|float|string|DateInterval|DateTimeInterface|null $retryUntil = null,
        ?string $group = null,
    ): ?string {
        $job = $this->pushed(get_defined_vars(), 'tryPush');
        try {
            return $this->adding()->all([$job]) === 0 ? $job->id() : null;
        } catch (DuplicateJobException) {
            return null;
        }
    }

    public function pushMany(iterable $jobs): array
    {
        $pushed = [];
        foreach ($jobs as $job) {
            $info = $this->arguments->item($job, count($pushed), 'pushMany');
            $pushed[] = $this->with($info, $job, OnDuplicate::Fail);
        }
        $this->adding()->all($pushed);

        return array_map(static fn (Pushed $one): string => $one->id(), $pushed);
    }

    /** As on Redis, an array is checked as a whole before, and anything else in chunks. */
    public function pushOnce(iterable $jobs): PushOnce
    {
        $counts = [0, 0, 0];
        $add = function (array $pushed) use (&$counts): void {
            $counts = array_map(array_sum(...), array_map(null, $counts, $this->adding()->once($pushed)));
        };
        $pushed = [];
        $position = 0;
        foreach ($jobs as $job) {
            $info = $this->arguments->item($job, $position++, 'pushOnce');
            $pushed[] = $this->with($info, $job, OnDuplicate::Keep);
            if (!is_array($jobs) && count($pushed) === 500) {
                $add($pushed);
                $pushed = [];
            }
        }
        $add($pushed);

        return Testing::pushOnce(...$counts);
    }

    public function prepare(
        mixed $payload,
        int|float|string|DateInterval|DateTimeInterface $delay = 0,
        ?string $id = null,
        ?int $priority = null,
        int|float|string|DateInterval|null $ttr = null,
        ?int $maxAttempts = null,
        ?Backoff $backoff = null,
        int|float|string|DateInterval|null $timeout = null,
        OnDuplicate $onDuplicate = OnDuplicate::Fail,
        array $headers = [],
        int|float|string|DateInterval|null $unique = null,
        int|float|string|DateInterval|null $maxWait = null,
        int|float|string|DateInterval|DateTimeInterface|null $expires = null,
        OnExpiry $onExpiry = OnExpiry::Bury,
        int|float|string|DateInterval|DateTimeInterface|null $retryUntil = null,
        ?string $group = null,
    ): PreparedJob {
        return $this->arguments->prepared(get_defined_vars());
    }

    public function receipts(int|float|string|DateInterval $olderThan = 0, string $prefix = '', int $limit = 1000): array
    {
        $olderUs = $this->arguments->us($olderThan, 'receipts', 'Argument #1 ($olderThan)');
        $this->arguments->atLeast(1, $limit, 'receipts', 'Argument #3 ($limit)');

        return $this->jobs->receipts->given($this->store->nowUs() - $olderUs, $prefix, $limit);
    }

    public function takenIds(): array
    {
        return $this->jobs->receipts->taken($this->store->nowUs());
    }

    public function forgetReceipts(string ...$names): int
    {
        foreach (array_values($names) as $index => $name) {
            $this->arguments->id($name, 'forgetReceipts', 'Argument #' . ($index + 1));
        }

        return $this->jobs->receipts->forget(array_values($names));
    }

    public function producer(string $member, int|float $score, array $message): bool
    {
        $id = $this->arguments->id($member, 'producer', 'Argument #1 ($member)');
        if (!is_finite($score)) {
            throw Arguments::error('producer', 'Argument #2 ($score)', 'must be finite');
        }
        $info = $this->arguments->checked(['id' => $id, 'payload' => $message], 'producer', []);
        $this->adding()->all([new Pushed(new Entry($info, Store::us((float) $score)), OnDuplicate::Replace)]);

        return true;
    }

    private function adding(): Push
    {
        return new Push($this->jobs, $this->arguments->capacity);
    }

    /** @param array<string, mixed> $job */
    private function pushed(array $job, string $method): Pushed
    {
        return $this->with($this->arguments->pushed($job, $method), $job, OnDuplicate::Fail);
    }

    /** @param array<string, mixed> $job values that have been checked */
    private function with(JobInfo $info, array $job, OnDuplicate $onDuplicate): Pushed
    {
        $entry = new Entry($info, $this->arguments->dueUs($job['delay'] ?? 0, $this->store->nowUs(), 'push', 2));
        $entry->isBuried = $info->state === State::Buried;
        if (($job['delay'] ?? null) instanceof DateTimeInterface && $entry->dueUs < $this->store->nowUs()) {
            $entry->fallDueFirst($this->store->nowUs()); // its moment has passed: it waits from now on
        }
        if (isset($job['past'])) {
            $entry->fallDueFirst($info->firstDueAt === null ? $entry->dueUs : Store::us($info->firstDueAt));
        }

        return new Pushed(
            $entry,
            $job['onDuplicate'] ?? $onDuplicate,
            isset($job['unique']) ? $this->arguments->us($job['unique'], 'push', 'Argument #11 ($unique)') : null,
            (string) ($job['receipt'] ?? ''),
            !array_key_exists('payload', $job),
        );
    }
}
