<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DateInterval;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\StopReason;
use DelayQueue\Testing;
use Error;
use ReflectionClass;

/**
 * A queue in the memory of this process, with the rules of DelayQueue on Redis: order, groups, leases, attempts, backoff, duplicates, time travel.
 * For unit tests without Redis, and to run jobs in the process at drain():
 *
 *     $queue = new InMemoryQueue('orders');
 *     $queue->push(['order' => 4711], delay: '15m', id: 'order-4711');
 *     Testing::travel('15m');
 *     $queue->drain($handler);
 *
 * Needs the ini setting delayqueue.testing=1, because its jobs end with the process. Its jobs are real DelayQueue\Job objects. It differs
 * where there is only one process:
 *
 * - Nobody else pushes: reserve(), wait() and consume() wait for jobs that fall due, and end at once when none can come.
 * - Time limits of handlers are not enforced, and the leases of a loop do not end while its handler runs.
 * - A backoff has no jitter, lateness(), waitTime(), runTimes() and history() count nothing, payloads are not sealed, and pushOnce() takes none that is.
 * - ackMany() takes any JobInterface.
 */
final class InMemoryQueue implements QueueInterface
{
    use LimitsGroups;
    use LooksAtJobs;
    use PushesJobs;

    private readonly Arguments $arguments;

    private readonly Store $store;

    /** The jobs of the queue's own name. */
    private readonly Jobs $jobs;

    private readonly Listeners $listeners;

    /** @var list<string> */
    private array $watched;

    private bool $isStopped = false;

    /**
     * @param array<string, mixed> $options of DelayQueue; those about Redis are checked and mean nothing here
     * @param Store|null $store queue objects of one store see each other's jobs; null: a store of its own
     *
     * @throws Error without the ini setting delayqueue.testing=1
     */
    public function __construct(string $queue = 'default', array $options = [], ?Store $store = null)
    {
        if (!filter_var(ini_get('delayqueue.testing'), FILTER_VALIDATE_BOOL)) {
            throw new Error(self::class . ' needs the ini setting delayqueue.testing=1: its jobs end with the process; never set it in production');
        }
        $this->begin(Arguments::of($queue, $options), $store ?? new Store());
    }

    /** Of the same store. */
    public function sibling(string $queue, #[\SensitiveParameter] array $options = []): static
    {
        $sibling = (new ReflectionClass(self::class))->newInstanceWithoutConstructor();
        $sibling->begin($this->arguments->sibling($queue, $options), $this->store);

        return $sibling;
    }

    public function consumer(int|float|null $maxScore = null, int $limit = 10): array
    {
        $this->arguments->atLeast(1, $limit, 'consumer', 'Argument #2 ($limit)');
        $untilUs = $maxScore === null ? $this->store->nowUs() : Store::us((float) $maxScore);
        $taken = $this->jobs->dueBy($untilUs, $limit);
        foreach ($taken as $entry) {
            $this->jobs->remove($entry, 'acked');
        }

        return array_map(fn (Entry $entry): mixed => $this->arguments->read($entry->info)?->payload, $taken);
    }

    public function watch(string ...$queues): static
    {
        foreach (array_values($queues) as $index => $queue) {
            $this->arguments->queueName($queue, $index + 1);
        }
        $this->watched = $queues === [] ? [$this->arguments->queue] : array_values(array_unique($queues));

        return $this;
    }

    public function reserve(int|float|null $timeout = 0): ?Job
    {
        return $this->fetch(1, $this->arguments->timeoutUs($timeout, 'reserve', 1))[0] ?? null;
    }

    public function reserveMany(int $max, int|float|null $timeout = 0): array
    {
        $this->arguments->atLeast(1, $max, 'reserveMany', 'Argument #1 ($max)');

        return $this->fetch(min($max, 500), $this->arguments->timeoutUs($timeout, 'reserveMany', 2));
    }

    public function reserveJob(string $id): ?Job
    {
        $entry = $this->jobs->find($this->arguments->id($id, 'reserveJob'));

        if ($entry === null || $entry->lease !== null || $entry->isWaiting() && $this->jobs->endsLate($entry, $this->store->nowUs())) {
            return null;
        }

        return (new Hold($this->jobs))->lease([$entry], $this->arguments)[0];
    }

    public function wait(int|float|null $timeout = null): bool
    {
        return $this->ready(1, $this->arguments->timeoutUs($timeout, 'wait', 1)) !== null;
    }

    public function ackMany(JobInterface ...$jobs): int
    {
        return array_sum($this->store->atOnce(static fn () => array_map(static function (JobInterface $job): int {
            try {
                $job->ack();

                return 1;
            } catch (LeaseLostException) {
                return 0; // it is settled, or not ours any more
            }
        }, $jobs)));
    }

    /**
     * Time limits are not enforced ($timeout, $graceTimeout), signals do what they do elsewhere in PHP ($shutdownTimeout), $prefetch and
     * $throwOnCancel change nothing, and without $heartbeat leases end as they do on Redis.
     */
    public function consume(
        callable $handler,
        int|float $idleTimeout = 5,
        int $maxJobs = 0,
        int|float|string|DateInterval $maxTime = 0,
        int|string $memoryLimit = 0,
        bool $stopWhenEmpty = false,
        int $prefetch = 1,
        int|float|string|DateInterval $timeout = 0,
        int|float|string|DateInterval $graceTimeout = 5,
        bool $heartbeat = true,
        bool $throwOnCancel = false,
        int|float|string|DateInterval $shutdownTimeout = 0,
    ): StopReason {
        $this->arguments->handler($handler, $this, 'consume');
        $limits = $this->arguments->limits(
            $idleTimeout,
            $maxJobs,
            $maxTime,
            $memoryLimit,
            $stopWhenEmpty,
            $prefetch,
            $timeout,
            $graceTimeout,
            $heartbeat,
            $shutdownTimeout,
        );

        return (new Loop($this, $this->listeners, $handler(...), $limits))->run();
    }

    public function name(): string
    {
        return $this->arguments->queue;
    }

    public function drain(callable $handler, int $limit = 0): int
    {
        $this->arguments->handler($handler, $this, 'drain');
        $this->arguments->atLeast(0, $limit, 'drain', 'Argument #2 ($limit)');
        $loop = new Loop($this, $this->listeners, $handler(...), new Limits(maxJobs: $limit, stopWhenEmpty: true));
        $loop->run();

        return $loop->handled();
    }

    public function stop(): void
    {
        $this->isStopped = true;
    }

    public function on(Event $event, callable $listener): static
    {
        $this->listeners->add($event, $listener(...));

        return $this;
    }

    /** @internal for the loop: whether stop() was called, once */
    public function takeStop(): bool
    {
        [$was, $this->isStopped] = [$this->isStopped, false];

        return $was;
    }

    /** @internal for the loop: microseconds until a watched queue may have a ready job without anybody's doing; null: it never will */
    public function untilNextUs(): ?int
    {
        $momentUs = $this->nextMomentUs();

        return $momentUs === null ? null : max(0, $momentUs - $this->store->nowUs());
    }

    /** @internal for the loop: the message of a Release becomes the job's lastError, an empty one keeps the last */
    public function keepReason(Job $job, string $message): void
    {
        if ($message !== '') {
            // Cut, and without NUL, as the extension keeps a reason.
            $other = Testing::job(null);
            $other->bury($message);
            $this->store->queue($job->queue)->find($job->id)?->change(['lastError' => Testing::outcome($other)?->reason]);
        }
    }

    private function begin(Arguments $arguments, Store $store): void
    {
        [$this->arguments, $this->store] = [$arguments, $store];
        $this->jobs = $store->queue($arguments->queue);
        $this->listeners = new Listeners();
        $this->watched = [$arguments->queue];
    }

    /** @internal for the loop: whether the job has been set aside */
    public function isBuried(Job $job): bool
    {
        return $this->store->queue($job->queue)->find($job->id)?->isBuried ?? false;
    }

    /** @return list<Job> */
    private function fetch(int $most, ?int $timeoutUs): array
    {
        $ready = $this->ready($most, $timeoutUs);

        if ($ready === null) {
            return [];
        }
        [$jobs, $entries] = $ready;

        return $this->store->atOnce(function () use ($jobs, $entries): array {
            $leased = (new Hold($jobs))->lease($entries, $this->arguments);
            $jobs->served($entries);

            return $leased;
        });
    }

    /**
     * The next jobs of the first watched queue that has any, waited for as long as one may fall due.
     *
     * @return array{Jobs, list<Entry>}|null
     */
    private function ready(int $most, ?int $timeoutUs): ?array
    {
        $deadlineUs = $timeoutUs === null ? PHP_INT_MAX : $this->store->nowUs() + $timeoutUs;
        while (true) {
            foreach ($this->watchedJobs() as $jobs) {
                $entries = $jobs->next($most);
                if ($entries !== []) {
                    return [$jobs, $entries];
                }
            }
            $momentUs = $this->nextMomentUs();
            if ($momentUs === null || $momentUs > $deadlineUs || $timeoutUs !== 0 && $this->takeStop()) {
                return null;
            }
            usleep(max(0, min($momentUs - $this->store->nowUs(), 100_000)));
        }
    }

    /** @return list<Jobs> */
    private function watchedJobs(): array
    {
        return array_map($this->store->queue(...), $this->watched);
    }

    private function nextMomentUs(): ?int
    {
        $moments = array_filter(array_map(static fn (Jobs $jobs): ?int => $jobs->nextMomentUs(), $this->watchedJobs()), is_int(...));

        return $moments === [] ? null : min($moments);
    }
}
