<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use Closure;
use DelayQueue;
use DelayQueue\Database\Journal;
use DelayQueue\JobInfo;
use DelayQueue\State;

/** The queues that pages look at, and how pages are linked, for one request. */
final class Site
{
    private const PAGE = 500;

    /** @var array<string, DelayQueue> */
    private array $queues = [];

    /**
     * @param Closure(JobInfo): ?string $payload what a page may show of a payload; null: nothing
     * @param (Closure(DelayQueue, JobInfo...): int)|null $cancel null: cancel() of the queue
     * @param bool $hidesPayloads not each payload may be shown as it is
     */
    public function __construct(
        public readonly DelayQueue $anywhere,
        public readonly Request $request,
        public readonly Access $access,
        private readonly Closure $payload,
        public readonly bool $hidesPayloads,
        public readonly ?Journal $journal,
        private readonly ?Closure $cancel = null,
    ) {
    }

    /** A queue with as many partitions as have been pushed to. */
    public function queue(string $name): DelayQueue
    {
        return $this->queues[$name] ??= $this->open($name);
    }

    /** @return int how many there were still */
    public function cancel(DelayQueue $queue, JobInfo ...$jobs): int
    {
        return $this->cancel === null
            ? $queue->cancel(...array_column($jobs, 'id'))
            : ($this->cancel)($queue, ...$jobs);
    }

    /** Cancels the waiting jobs of a group. Only where somebody is to hear of each, they are looked for. */
    public function cancelGroup(DelayQueue $queue, string $group): void
    {
        foreach ($this->cancel === null ? [] : [State::Delayed, State::Ready] as $state) {
            while (($jobs = $queue->list($state, limit: self::PAGE, group: $group)) !== []) {
                $this->cancel($queue, ...$jobs);
            }
        }
        $queue->cancelGroup($group);
    }

    /** @param array<string, string|int|null> $parameters null: left out */
    public function url(string $path, array $parameters = []): string
    {
        $query = http_build_query(array_filter($parameters, static fn (mixed $value): bool => $value !== null), '', '&', PHP_QUERY_RFC3986);

        return $this->request->base . $path . ($query === '' ? '' : "?$query");
    }

    public function mayWrite(): bool
    {
        return $this->access === Access::Write;
    }

    public function payload(JobInfo $job): ?string
    {
        return ($this->payload)($job);
    }

    private function open(string $name): DelayQueue
    {
        $queue = $this->anywhere->sibling($name);
        $partitions = $queue->partitions();

        return $partitions > 1 ? $this->anywhere->sibling($name, ['partitions' => $partitions]) : $queue;
    }
}
