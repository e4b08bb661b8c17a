<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** An order for a child process: the work it does, with which peer, how long. Goes to it as JSON. */
final class Task
{
    /**
     * @param string $work a class of Work\
     * @param float $seconds how long to measure, or to wait for jobs
     * @param int $count how many jobs at most
     * @param int $batch jobs a pushMany()
     * @param bool $onSignal it says "ready", and starts when it is told a line
     * @param list<Endpoint> $others more servers, for work with several
     * @param int $groups in how many groups the jobs are; 0: in none
     * @param int|null $full each group may hold one job, and so many of them hold one for good; null: groups have no limits
     */
    public function __construct(
        public readonly string $peer,
        public readonly string $work,
        public readonly Endpoint $endpoint,
        public readonly float $seconds = 1.0,
        public readonly int $count = PHP_INT_MAX,
        public readonly int $prefetch = 1,
        public readonly int $batch = 1,
        public readonly int $delayMs = 3_600_000,
        public readonly int $payloadBytes = Order::BYTES,
        public readonly bool $onSignal = false,
        public readonly array $others = [],
        public readonly int $groups = 0,
        public readonly ?int $full = null,
    ) {
    }

    public static function fromJson(string $json): self
    {
        $task = json_decode($json, true, flags: JSON_THROW_ON_ERROR);
        $task['endpoint'] = new Endpoint(...$task['endpoint']);
        $task['others'] = array_map(static fn (array $endpoint) => new Endpoint(...$endpoint), $task['others']);

        return new self(...$task);
    }

    /** To be called by work with $onSignal, once it is about to start. */
    public function waitForSignal(): void
    {
        if ($this->onSignal) {
            echo "ready\n";
            fgets(STDIN);
        }
    }
}
