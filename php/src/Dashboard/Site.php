<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use Closure;
use DelayQueue;
use DelayQueue\Database\Journal;
use DelayQueue\JobInfo;
use DelayQueue\ServerException;

/** The queues that pages look at, and how pages are linked, for one request. */
final class Site
{
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

    /** Whether there is such a queue: with jobs, known though it is empty, or one that workers or this site are for. */
    public function hasQueue(string $name): bool
    {
        $queue = $this->queue($name);
        try {
            return $name === $this->anywhere->name()
                || $queue->partitions() > 0
                || $queue->count() > 0
                || $queue->isPaused()
                || array_filter($queue->limits()) !== []
                || $queue->receipts(limit: 1) !== []
                || $this->anywhere->workers(queue: $name) !== []
                || ($this->journal?->search($name, limit: 1) ?? []) !== [];
        } catch (ServerException) {
            return true; // this user of Redis may not look everywhere
        }
    }

    /** Which Redis this is, without a login and without settings of the connection. */
    public function redis(): string
    {
        [$place, $settings] = explode('?', $this->anywhere->settings()->dsn, 2) + [1 => ''];
        parse_str($settings, $known);

        return preg_replace('~//[^/]*@~', '//', $place) . (is_string($known['db'] ?? null) ? "?db=$known[db]" : '');
    }

    /** @return int how many there were still */
    public function cancel(DelayQueue $queue, JobInfo ...$jobs): int
    {
        return $this->cancel === null
            ? $queue->cancel(...array_column($jobs, 'id'))
            : ($this->cancel)($queue, ...$jobs);
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
