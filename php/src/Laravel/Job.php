<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Closure;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\OwnHeaders;
use DelayQueue\Job as NativeJob;
use DelayQueue\LeaseLostException;
use DelayQueue\RateLimited as RateLimitedElsewhere;
use Illuminate\Container\Container;
use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Queue\CallQueuedHandler;
use Illuminate\Queue\Jobs\Job as BaseJob;
use Throwable;

/** A job of Laravel under a lease of delayqueue. */
class Job extends BaseJob implements JobContract
{
    use Concerns\RecordsFailure;
    use Concerns\StartsInTime;

    private ?Payload $content = null;

    /** The middleware that is at work. Null: the handler is, or neither. */
    private mixed $middleware = null;

    private ?string $copied = null;

    /** Why this run has failed. */
    private Throwable|string|null $failure = null;

    /** The application was told that the lease is lost. */
    private bool $isLost = false;

    /** @param bool $acknowledgesLater deleting leaves the job to the extension's loop, which acknowledges it with its next request */
    public function __construct(
        Container $container,
        private readonly Queue $source,
        private readonly NativeJob $reserved,
        ?string $connectionName,
        string $queue,
        private readonly bool $acknowledgesLater = false,
    ) {
        $this->container = $container;
        $this->connectionName = $connectionName;
        $this->queue = $queue;
    }

    /** The job of the extension: its lease, its headers, its times. */
    public function native(): NativeJob
    {
        return $this->reserved;
    }

    public function getJobId()
    {
        return $this->reserved->id;
    }

    /** The tenant that onGroup() or messageGroup() has named. Null: it has none. */
    public function group(): ?string
    {
        return $this->reserved->group;
    }

    /** {@inheritdoc} A copy that an operator has pushed is a job of its own. */
    public function getRawBody()
    {
        return isset($this->reserved->headers[OwnHeaders::COPY])
            ? $this->copied ??= CopiedJob::body($this->reserved->body, $this->reserved->id)
            : $this->reserved->body;
    }

    /** {@inheritdoc} Without members that cannot be what they say. */
    public function payload()
    {
        return $this->content()->members;
    }

    /** @internal */
    public function content(): Payload
    {
        return $this->content ??= Payload::of($this->getRawBody(), $this->getJobId());
    }

    /** This run included. A job that came from the redis driver brings its attempts there with it. */
    public function attempts()
    {
        return $this->reserved->attempts + (int) ($this->payload()['attempts'] ?? 0);
    }

    /** Done, or failed. While fail() works the job stays ours, to be acknowledged at its end. */
    public function delete()
    {
        parent::delete();
        if ($this->recording !== null) {
            return;
        }
        if ($this->hasFailed()) {
            $this->settleFailed();
        } elseif (!$this->acknowledgesLater) {
            $this->settle(fn () => $this->reserved->ack());
        }
    }

    /** The worker has caught this, or ends the job for this: a release from now on counts a failed run, and keeps the reason. */
    public function runFailed(Throwable|string $why): void
    {
        $this->failure = $why;
    }

    /**
     * Gives the job back.
     *
     * @param \DateTimeInterface|\DateInterval|int $delay
     * @param bool|null $countAttempt false: as if it had not been tried, for "not now" (a maintenance window). null: it counts, unless a middleware
     *     calls this that holds jobs back (the setting release_uncounted)
     */
    public function release($delay = 0, ?bool $countAttempt = null)
    {
        $isFirst = !$this->isReleased();
        parent::release($delay);
        if (!$this->isDeleted()) {
            $countAttempt ??= !$this->source->settings->holdsBack($this->middleware);
            $this->giveBack($isFirst, fn () => $this->reserved->release(
                Delay::of($delay, $this->source->native($this->queue)),
                countAttempt: $countAttempt,
                error: $this->failure,
            ));
        }
    }

    /**
     * Calls `$work` while this middleware is at work.
     *
     * @internal
     *
     * @param mixed $middleware as a job names it; null: what is behind the middleware
     * @param Closure(): mixed $work
     */
    public function behind(mixed $middleware, Closure $work): mixed
    {
        $before = $this->middleware;
        $this->middleware = $middleware;
        try {
            return $work();
        } finally {
            $this->middleware = $before;
        }
    }

    /** Closes the group and puts the job back in its old place, uncounted, as consume() does when a handler throws RateLimited. */
    public function rateLimited(RateLimitedElsewhere $limit): void
    {
        try {
            $this->source->native($this->queue)->rateLimit($limit->delay, $limit->group ?? $this->reserved->group);
        } finally {
            // A job that its handler has deleted stays so, also where the loop has yet to acknowledge it.
            if (!$this->isDeleted()) {
                $isFirst = !$this->isReleased();
                parent::release();
                $this->giveBack(
                    $isFirst,
                    fn () => $this->reserved->release(Moment::of($this->reserved->dueAt), countAttempt: false),
                );
            }
        }
    }

    /**
     * From now on the extension renews the lease by itself, until the job is settled.
     *
     * @param int|float|null $atMost seconds; null: no limit
     */
    public function keepAlive(int|float|null $atMost = null): void
    {
        if ($this->source->settings->heartbeat) {
            $this->settle(fn () => $this->reserved->keepAlive($atMost));
        }
    }

    /** The worker goes on to the next job: one that it has not settled comes back when its lease is over. */
    public function letGo(): void
    {
        if (!$this->reserved->isLost()) {
            $this->keepAlive(0.001);
        }
    }

    /** {@inheritdoc} {@see JobHandler} replaces Laravel's handler, unless the application has bound its own. */
    protected function resolve($class)
    {
        return $class === CallQueuedHandler::class && !$this->container->bound($class)
            ? $this->container->make(JobHandler::class)->of($this->payload())
            : parent::resolve($class);
    }

    /** A job that was cancelled meanwhile ends here. One whose lease has run out may be another worker's. */
    private function giveBack(bool $isFirst, Closure $release): void
    {
        $isOurs = $this->source->settings->heartbeat || $this->reserved->timeLeft() > 0;
        $this->settle($release);
        if ($isFirst && $isOurs && $this->reserved->isLost()) {
            $this->source->settleLost($this);
        }
    }

    /** A job that is settled stays so. One that is ours no longer is no error of the application. */
    private function settle(Closure $operation): void
    {
        if ($this->isLost || $this->reserved->isSettled()) {
            return;
        }
        try {
            $operation();
        } catch (LeaseLostException $exception) {
            $this->isLost = true;
            $this->source->reportLeaseLost($this, $exception);
        }
    }
}
