<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\JobInfo;
use DelayQueue\OnExpiry;
use DelayQueue\State;
use DelayQueue\Testing;

/** One job of a queue: the job itself, where it is, and since or until when. */
final class Entry
{
    private const TOO_LATE = 'too late to be tried again';

    public ?Lease $lease = null;

    public bool $isBuried = false;

    /** It came back to an ordered group: the others wait until it has ended. */
    public bool $isFirst = false;

    /** When it fell due first, of a job that came back. */
    private ?int $firstDueUs = null;

    private ?Limit $expires;

    private readonly ?Limit $retryUntil;

    public readonly OnExpiry $onExpiry;

    /**
     * @param JobInfo $info all of it but its state; attempts are those that have ended
     * @param int $dueUs of a buried job, or one that was reserved while it was buried: since when
     */
    public function __construct(public JobInfo $info, public int $dueUs)
    {
        $expires = Traits::value((string) $info->extras, 'E', 10);
        $this->expires = Limit::of($expires);
        $this->onExpiry = $expires !== null && $expires[9] === "\1" ? OnExpiry::Drop : OnExpiry::Bury;
        $this->retryUntil = Limit::of(Traits::value((string) $info->extras, 'U', 9));
    }

    public function state(int $nowUs): State
    {
        return match (true) {
            $this->lease !== null => State::Reserved,
            $this->isBuried => State::Buried,
            $this->dueUs <= $nowUs => State::Ready,
            default => State::Delayed,
        };
    }

    public function isWaiting(): bool
    {
        return $this->lease === null && !$this->isBuried;
    }

    public function isSpent(): bool
    {
        return $this->info->maxAttempts > 0 && $this->info->attempts >= $this->info->maxAttempts;
    }

    /** Leased alone, so that a job that kills its worker costs its neighbours little, and has one uncounted run. */
    public function isAlone(): bool
    {
        return $this->info->timeouts > 0 || $this->info->maxAttempts > 0 && $this->info->attempts + 1 >= $this->info->maxAttempts;
    }

    /** @param array<string, mixed> $changes properties of JobInfo */
    public function change(array $changes): void
    {
        $this->info = Testing::jobInfo($changes, $this->info);
    }

    public function wait(int $dueUs): void
    {
        [$this->lease, $this->isBuried, $this->dueUs] = [null, false, $dueUs];
    }

    /** Before it gets another due time. */
    public function comeBack(): void
    {
        $this->firstDueUs ??= $this->dueUs;
    }

    /** It was in somebody's hands, in an attempt that does not count: it expires no more. */
    public function start(): void
    {
        $extras = (string) $this->info->extras;
        if (strlen($extras) > 3 && unpack('n', $extras, 1)[1] > 0) {
            $this->comeBack();
        }
        $at = Traits::at($extras, 'E', 10);
        if ($at !== null) {
            $this->change(['extras' => substr_replace($extras, "\2", $at, 1)]);
            $this->expires = null;
        }
    }

    /** It falls due anew. */
    public function fallDueFirst(int $dueUs): void
    {
        $this->firstDueUs = $dueUs;
    }

    /** It gets another time. */
    public function reschedule(int $dueUs): void
    {
        $this->firstDueUs = $this->firstDueUs === null ? null : $dueUs;
        $this->wait($dueUs);
    }

    /** Whether its next attempt would come too late. A kick has lifted all limits. */
    public function isTooLateAt(int $nextUs): bool
    {
        $untilUs = $this->retryUntil?->momentUs($this->firstDueUs ?? $this->dueUs);

        return $this->info->kicks === 0 && $untilUs !== null && $untilUs < $nextUs;
    }

    /** Whether it was not started by its time. */
    public function isExpiredAt(int $nowUs): bool
    {
        $expiresUs = $this->expires?->momentUs($this->firstDueUs ?? $this->dueUs);

        $isNew = $this->info->kicks + $this->info->attempts + $this->info->timeouts === 0;

        return $isNew && $expiresUs !== null && $expiresUs < $nowUs;
    }

    /** The reason for its end where there is none of its own. */
    public function reasonOfEnd(string $reason): string
    {
        return $reason === '' ? self::TOO_LATE : $reason;
    }

    public function bury(string $reason, int $nowUs): void
    {
        $this->comeBack();
        [$this->lease, $this->isBuried, $this->dueUs] = [null, true, $nowUs];
        $this->change(['buries' => $this->info->buries + 1, 'lastError' => $reason === '' ? null : $reason]);
    }

    public function look(int $nowUs): JobInfo
    {
        $momentAt = fn (?Limit $limit): ?float
            => $limit === null || $this->info->kicks > 0 ? null : $limit->momentUs($this->firstDueUs ?? $this->dueUs) / 1_000_000;

        return Testing::jobInfo([
            'firstDueAt' => $this->firstDueUs === null ? null : $this->firstDueUs / 1_000_000,
            'expiresAt' => $momentAt($this->expires),
            'retryUntil' => $momentAt($this->retryUntil),
            'state' => $this->state($nowUs),
            'attempts' => $this->info->attempts + ($this->lease === null ? 0 : 1),
            'dueAt' => $this->dueUs / 1_000_000,
            'leaseUntil' => $this->lease === null ? null : $this->lease->endsAtUs() / 1_000_000,
        ], $this->info);
    }
}
