<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\Job;
use DelayQueue\JobCall;
use DelayQueue\LeaseLostException;
use DelayQueue\Testing;

/**
 * Leases jobs, and does what their holders do with them: the job objects are real ones, made by Testing, whose calls come here.
 *
 * @internal
 */
final class Hold
{
    private const LOST = 'its time ran out and it was taken back, or it was cancelled';

    public function __construct(private readonly Jobs $jobs)
    {
    }

    /**
     * Leases them together.
     *
     * @param list<Entry> $entries
     * @param Arguments $of of the queue object that takes them: how it reads and stores payloads
     *
     * @return list<Job>
     */
    public function lease(array $entries, Arguments $of): array
    {
        $nowUs = $this->jobs->store->nowUs();

        return array_map(function (Entry $entry) use ($nowUs, $of, $entries): Job {
            $lease = new Lease($nowUs + Store::us($entry->info->ttr), isBehind: $entry !== $entries[0]);
            $look = $of->read($entry->look($nowUs));
            [$entry->lease, $entry->isBuried] = [$lease, false];
            $this->jobs->leaves($entry);
            $this->jobs->spend($entry, $nowUs);
            $job = Testing::jobOf($look, $of->like, ++$this->jobs->lastToken, fn (JobCall $call) => $this->called($entry, $lease, $call));
            $lease->isOf($job);

            return $job;
        }, $entries);
    }

    /** @throws LeaseLostException when the job is its holder's no more */
    private function called(Entry $entry, Lease $lease, JobCall $call): void
    {
        if ($entry->lease !== $lease) {
            $at = "job '{$entry->info->id}' in queue '{$this->jobs->name}'";
            throw new LeaseLostException("the lease of $at is lost: " . self::LOST);
        }
        match ($call->name) {
            'ack' => $this->ack($entry, $call),
            'release' => $this->release($entry, $call),
            'fail' => $this->fail($entry, (string) $call->reason),
            'bury' => $this->bury($entry, $call),
            'touch' => $lease->deadlineUs = Store::us((float) $call->leaseUntil),
            'keepAlive' => $lease->keepUntil($call->ttr === null ? null : $this->jobs->store->nowUs() + Store::us($call->ttr)),
            'update' => self::update($entry, $call->payload, (string) $call->body, $call->headers),
        };
        if ($entry->lease === null && $call->name !== 'ack') {
            $this->jobs->comesBack($entry);
        }
    }

    /** @param array<array-key, string>|null $headers null keeps them */
    public static function update(Entry $entry, mixed $payload, string $body, ?array $headers): void
    {
        $entry->change(['payload' => $payload, 'body' => $body] + ($headers === null ? [] : ['headers' => $headers]));
    }

    private function ack(Entry $entry, JobCall $call): void
    {
        $this->jobs->remove($entry, $call->failed ? 'givenUp' : 'acked');
        $this->countFailure($call);
    }

    private function release(Entry $entry, JobCall $call): void
    {
        if ($call->priority !== null) {
            $entry->change(['priority' => $call->priority]);
        }
        if ($call->countAttempt || (string) $call->reason !== '') {
            $entry->comeBack();
        }
        if ((string) $call->reason !== '') {
            $entry->change(['lastError' => $call->reason]);
        }
        if (!$call->countAttempt) {
            $entry->start();
        }
        $this->countFailure($call);
        $dueUs = Store::us((float) $call->dueAt);
        if ($call->countAttempt) {
            $entry->change(['attempts' => $entry->info->attempts + 1, 'releases' => $entry->info->releases + 1]);
            $nowUs = $this->jobs->store->nowUs();
            if ($entry->isTooLateAt(max($dueUs, $nowUs))) {
                $entry->bury($entry->reasonOfEnd((string) $entry->info->lastError), $nowUs);

                return;
            }
        }
        $entry->wait($dueUs);
    }

    /** Without the backoff's jitter: a test knows when the job is due. */
    private function fail(Entry $entry, string $reason): void
    {
        $nowUs = $this->jobs->store->nowUs();
        $entry->comeBack();
        $entry->change(['attempts' => $entry->info->attempts + 1, 'lastError' => $reason === '' ? null : $reason]);
        $this->jobs->add('failed');
        $dueUs = $nowUs + Store::us($entry->info->backoff->delayAfter($entry->info->attempts));
        if ($entry->isSpent()) {
            $entry->bury($reason, $nowUs);
        } elseif ($entry->isTooLateAt($dueUs)) {
            $entry->bury($entry->reasonOfEnd($reason), $nowUs);
        } else {
            $entry->wait($dueUs);
        }
    }

    private function bury(Entry $entry, JobCall $call): void
    {
        $entry->change(['attempts' => $entry->info->attempts + 1]);
        $entry->bury((string) $call->reason, $this->jobs->store->nowUs());
        $this->countFailure($call);
    }

    private function countFailure(JobCall $call): void
    {
        if ($call->failed) {
            $this->jobs->add('failed');
        }
    }
}
