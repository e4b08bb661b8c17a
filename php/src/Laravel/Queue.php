<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue;
use DelayQueue\Job as NativeJob;
use DelayQueue\LeaseLostException;
use Illuminate\Contracts\Queue\ClearableQueue;
use Illuminate\Contracts\Queue\Queue as QueueContract;
use Illuminate\Queue\Queue as BaseQueue;
use UnitEnum;

/** A queue connection of Laravel on delayqueue. */
class Queue extends BaseQueue implements QueueContract, ClearableQueue
{
    use Concerns\EndsJobs;
    use Concerns\FindsJobs;
    use Concerns\InspectsQueue;
    use Concerns\PushesJobs;
    use Concerns\StoresJobs;
    use Concerns\UsesOutbox;

    private ?WorkerLoop $loop = null;

    public function __construct(private readonly Natives $natives, public readonly Settings $settings)
    {
        $this->dispatchAfterCommit = $settings->afterCommit;
    }

    /** The extension's own object for a queue: everything that Laravel has no word for. */
    public function native(string|UnitEnum|null $queue = null): DelayQueue
    {
        return $this->natives->of($this->getQueue($queue));
    }

    /**
     * The name of a queue, as Laravel knows it.
     *
     * @param string|UnitEnum|null $queue
     */
    public function getQueue($queue): string
    {
        $name = QueueName::of($queue) ?: $this->settings->queue;

        return method_exists($this, 'resolveQueue') ? (string) $this->resolveQueue($name) : $name;
    }

    /**
     * The next job. The first pop in a round of our worker asks all its queues, and waits; those after it have nothing left to ask.
     *
     * @param string|UnitEnum|null $queue
     * @param int $index the place of the queue in the worker's list; at the first one it waits for block_for
     */
    public function pop($queue = null, $index = 0): ?Job
    {
        if ($this->loop !== null) {
            return $this->popInLoop($this->loop, $this->getQueue($queue));
        }
        $reserved = $this->native($queue)->reserve($index === 0 ? $this->settings->blockFor ?? 0 : 0);

        return $reserved === null ? null : $this->job($reserved);
    }

    /**
     * A round of our worker begins: how its pops are to ask.
     *
     * @param list<string>|null $queues all that the worker serves now; null: each pop asks for its own queue
     * @param int|float $seconds how long the first pop waits
     */
    public function beginLoop(?array $queues, int|float $seconds): void
    {
        $this->loop = new WorkerLoop($queues === null ? null : array_map($this->getQueue(...), $queues), $seconds);
    }

    /** @return bool the round has waited as long as it was to, or was interrupted: there is no need to sleep */
    public function endLoop(): bool
    {
        $hasWaited = $this->loop?->hasAsked && $this->loop->queues !== null && $this->loop->seconds > 0;
        $this->loop = null;

        return $hasWaited;
    }

    /**
     * The object of the extension that waits for jobs of these queues.
     *
     * @param non-empty-list<string> $queues
     */
    public function serving(array $queues): DelayQueue
    {
        return $this->natives->of(...array_map($this->getQueue(...), $queues));
    }

    /** Ends the wait of a pop, from a signal handler. */
    public function interrupt(): void
    {
        $this->loop?->waitsOn?->stop();
    }

    /** @param bool $acknowledgesLater the loop of the extension deletes the job once its handler returns */
    public function job(NativeJob $reserved, bool $acknowledgesLater = false): Job
    {
        return new Job($this->container, $this, $reserved, $this->connectionName, QueueName::decode($reserved->queue), $acknowledgesLater);
    }

    /**
     * A new object of the extension that serves these queues, the first one first.
     *
     * @param non-empty-list<string> $queues
     */
    public function watching(array $queues): DelayQueue
    {
        return $this->natives->make(...array_map($this->getQueue(...), $queues));
    }

    /** Not an error of the application: the job is somebody else's, or cancelled. */
    public function reportLeaseLost(Job $job, LeaseLostException $exception): void
    {
        if ($this->container->bound('events')) {
            $this->container['events']->dispatch(new Events\LeaseLost($this->connectionName, $job, $exception));
        }
        if ($this->container->bound('log')) {
            $this->container['log']->warning("The lease of a queued job was lost: {$exception->getMessage()}", [
                'connection' => $this->connectionName,
                'queue' => $job->getQueue(),
                'job' => $job->getJobId(),
                'attempt' => $job->attempts(),
            ]);
        }
    }

    private function popInLoop(WorkerLoop $loop, string $queue): ?Job
    {
        if ($loop->queues === [] || ($loop->queues !== null && $loop->hasAsked)) {
            return null;
        }
        $loop->hasAsked = true;
        $native = $loop->waitsOn = $this->natives->of(...($loop->queues ?? [$queue]));
        try {
            $reserved = $native->reserve($loop->seconds);
        } finally {
            $loop->waitsOn = null;
        }

        return $reserved === null ? null : $this->job($reserved);
    }
}
