<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DateTimeInterface;
use DelayQueue\CancelledException;
use DelayQueue\Internal\Seconds;
use DelayQueue\Laravel\Identified;
use DelayQueue\Laravel\JobEnds;
use DelayQueue\Laravel\JobExpiredException;
use DelayQueue\Laravel\NewJob;
use DelayQueue\OnExpiry;

/** A job that was not started in time. Its worker looks, not Redis, so that Laravel hears of it. */
trait StartsInTime
{
    /** For the header: it outlasts no start, and no queue:retry. */
    public static function expiry(int|float|string|\DateInterval|DateTimeInterface $after, OnExpiry $onExpiry): string
    {
        $time = $after instanceof DateTimeInterface
            ? '@' . $after->format('U.u')
            : (string) Seconds::positive($after, Identified::class . '::expiringAfter', 'Argument #1 ($after)');

        return "$time $onExpiry->value";
    }

    /** Whether it may start. Else it has ended. */
    private function isInTime(): bool
    {
        $until = self::expiresAt($this->native()->headers, $this->native()->dueAt);

        return $until === null || !$this->isTooLate($until);
    }

    /**
     * Unix seconds by which it must be started.
     *
     * @param array<array-key, string> $headers
     */
    public static function expiresAt(array $headers, float $dueAt): ?float
    {
        $time = explode(' ', $headers[NewJob::EXPIRES] ?? '')[0];

        return match (true) {
            $time === '' => null,
            str_starts_with($time, '@') => (float) substr($time, 1),
            default => $dueAt + (float) $time,
        };
    }

    /** Whether it has ended for that. */
    private function isTooLate(float $until): bool
    {
        $reserved = $this->native();
        if ($reserved->attempts > 1 || $this->source->native($this->queue)->now() <= $until) {
            // Started in time: it may come again as late as it likes, also by a release that does not count.
            $headers = array_diff_key($reserved->headers, [NewJob::EXPIRES => 1]);
            $this->settle(fn () => $reserved->update($reserved->body, $headers));

            return false;
        }
        $late = "job '$reserved->id' in queue '$this->queue' was not started in time, and has expired";
        if (str_ends_with($reserved->headers[NewJob::EXPIRES], OnExpiry::Drop->value)) {
            $this->delete();
            $this->container->make(JobEnds::class)->removed($this->payload(), new CancelledException($late));
        } else {
            $this->fail(new JobExpiredException($late));
        }

        return true;
    }
}
