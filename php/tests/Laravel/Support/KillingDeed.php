<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Queue\Events\JobFailed;
use Throwable;

/** A deed that ends its process at the moment that it names. */
final class KillingDeed extends Deed
{
    public function handle(): void
    {
        parent::handle();
        match ($this->end) {
            'kill' => self::kill(),
            'kill once' => $this->attempts() > 1 ?: self::kill(),
            default => null,
        };
    }

    public function failed(?Throwable $exception = null): void
    {
        parent::failed($exception);
        $isFirst = count(preg_grep("/^failed " . preg_quote($this->name) . '/', Journal::lines())) === 1;
        match (true) {
            $this->name === 'kills in failed()' && $isFirst => self::kill(),
            // The worker's own listener, which records the job, comes before this one.
            $this->name === 'kills after its record' && $isFirst
                => app('events')->listen(JobFailed::class, self::kill(...)),
            default => null,
        };
    }

    private static function kill(): void
    {
        posix_kill(getmypid(), SIGKILL);
    }
}
