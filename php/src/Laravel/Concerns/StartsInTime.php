<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue\CancelledException;
use DelayQueue\Internal\StartBy;
use DelayQueue\Laravel\JobEnds;
use DelayQueue\Laravel\JobExpiredException;

/** A job that was not started in time. Its worker looks, not Redis, so that Laravel hears of it. */
trait StartsInTime
{
    /** Whether it may start. Else it has ended. */
    private function isInTime(): bool
    {
        $until = StartBy::at($this->native()->headers, $this->native()->dueAt);

        return $until === null || !$this->isTooLate($until);
    }

    /** Whether it has ended for that. */
    private function isTooLate(float $until): bool
    {
        $reserved = $this->native();
        if ($reserved->attempts > 1 || $this->source->native($this->queue)->now() <= $until) {
            // Started in time: it may come again as late as it likes, also by a release that does not count.
            $this->settle(fn () => $reserved->update(headers: StartBy::without($reserved->headers)));

            return false;
        }
        $late = "job '$reserved->id' in queue '$this->queue' was not started in time, and has expired";
        if (StartBy::isDropped($reserved->headers)) {
            $this->delete();
            $this->container->make(JobEnds::class)->removed($this->payload(), new CancelledException($late));
        } else {
            $this->fail(new JobExpiredException($late));
        }

        return true;
    }
}
