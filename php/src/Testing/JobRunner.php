<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use Closure;
use DelayQueue;
use DelayQueue\Bury;
use DelayQueue\Job;
use DelayQueue\Release;
use Throwable;

/**
 * Hands one due job at a time to a handler and settles it by what the handler does.
 *
 * @internal
 */
final class JobRunner
{
    private readonly Closure $handler;

    /** @param callable(Job, DelayQueue): mixed $handler */
    public function __construct(private readonly DelayQueue $queue, callable $handler)
    {
        $this->handler = $handler(...);
    }

    /** False if no job is due. */
    public function runNext(): bool
    {
        $job = $this->queue->reserve();
        if ($job === null) {
            return false;
        }
        $settle = $this->handle($job);
        if (!$job->isSettled()) {
            $settle();
        }

        return true;
    }

    /** @return Closure(): void what the handler decided */
    private function handle(Job $job): Closure
    {
        try {
            $result = ($this->handler)($job, $this->queue);
        } catch (Release $release) {
            return static fn () => $job->release($release->delay);
        } catch (Bury $bury) {
            return static fn () => $job->bury($bury->getMessage());
        } catch (Throwable $error) {
            return static fn () => $job->fail($error);
        }

        return static fn () => $result === false ? $job->fail() : $job->ack();
    }
}
