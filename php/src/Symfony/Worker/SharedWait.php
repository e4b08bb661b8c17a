<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Worker;

use DelayQueue;
use DelayQueue\Enlisted;
use DelayQueue\Job;
use DelayQueue\Symfony\Transport\Codec;
use DelayQueue\Symfony\Transport\Queues;
use DelayQueue\Symfony\Transport\Receiver;
use DelayQueue\WorkerOrder;
use Error;

/**
 * One wait for all transports of a worker. The worker asks each transport in turn, round after round; here the first one that is asked in
 * a round waits for the queues of all of them, and what comes is handed out to the transport it is of, in the same round.
 *
 * @internal
 */
final class SharedWait
{
    /** Several Redises are waited on in turns of this many seconds. */
    private const TURN = 0.1;

    /** @var list<Receiver> that have asked in this round */
    private array $asked = [];

    /** @var array<int, non-empty-list<Job>> for the receiver of this object id */
    private array $taken = [];

    /** The object whose wait a signal must end. */
    private ?DelayQueue $waiting = null;

    /** @var list<Enlisted> the worker in the lists of the Redises that it waits on */
    private array $enlisted = [];

    /** Until the wait that ends because of it. */
    private bool $stopped = false;

    /**
     * @param list<Receiver> $receivers in the worker's order
     * @param list<string> $names of queues instead of each one's own
     * @param float $seconds that one round waits at most
     * @param bool $waits false while it must not: transports of another kind have their turn, too
     * @param float $sleep seconds that the worker sleeps after a round of less
     * @param float $until when the worker is to end, in Unix seconds
     * @param RestartSignal|null $restart what else ends a wait; null: nothing
     */
    public function __construct(
        private readonly array $receivers,
        private readonly array $names,
        private readonly float $seconds,
        public bool $waits = true,
        private readonly float $sleep = 1.0,
        private readonly float $until = INF,
        private readonly ?RestartSignal $restart = null,
    ) {
    }

    /**
     * @param list<string> $names
     *
     * @return list<Job>
     */
    public function jobsOf(Receiver $receiver, array $names, int $max): array
    {
        $first = $this->asked === [] || in_array($receiver, $this->asked, true);
        $this->asked = $first ? [$receiver] : [...$this->asked, $receiver];
        $jobs = $this->handOut($receiver);
        if ($jobs !== []) {
            return $jobs;
        }
        if ($this->taken !== [] || !$this->waits) {
            return $receiver->take($names, $max);
        }
        if (!$first) {
            return []; // The first one has asked for all.
        }
        $begun = microtime(true);
        $wait = fn () => count($this->receivers) === 1 ? $this->takeFor($receiver, $names, $max) : $this->takeForAny();
        $this->restart === null ? $wait() : $this->restart->during($wait, $this->stop(...));
        $this->stopped = false;
        if (microtime(true) - $begun > $this->sleep) {
            // After so long a wait the worker looks whether it has to stop before it handles a message, so old code starts no new message.
            return [];
        }

        return $this->handOut($receiver);
    }

    /** Ends the wait that goes on, or else the next one: a signal may come just before it. */
    public function stop(): void
    {
        $this->stopped = true;
        $this->waiting?->stop();
    }

    /** Puts the worker on the lists of workers(). */
    public function enlist(): void
    {
        try {
            foreach ($this->groups() as [$queue]) {
                $this->enlisted[] = $queue->enlist('messenger', Codec::classOf($queue));
            }
        } catch (Error) {
            // In a request of a server: such a worker is on no list.
        }
    }

    /** Whether an operator has told it to stop, or to make place for a new process. Where it is paused, a wait brings nothing. */
    public function isToEnd(): bool
    {
        foreach ($this->enlisted as $enlisted) {
            if (in_array($enlisted->order(), [WorkerOrder::Stop, WorkerOrder::Restart], true)) {
                return true;
            }
        }

        return false;
    }

    /** The worker ends: what no transport was asked for any more goes back. */
    public function end(): void
    {
        array_map(static fn (Enlisted $enlisted) => $enlisted->close(), $this->enlisted);
        $this->enlisted = [];
        foreach ($this->receivers as $receiver) {
            $receiver->waitWith(null);
        }
        $this->receivers[0]->giveBack(array_merge(...array_values($this->taken)));
        $this->taken = [];
    }

    /** @return list<Job> */
    private function handOut(Receiver $receiver): array
    {
        $jobs = $this->taken[spl_object_id($receiver)] ?? [];
        unset($this->taken[spl_object_id($receiver)]);

        return $jobs;
    }

    /** @param list<string> $names */
    private function takeFor(Receiver $receiver, array $names, int $max): void
    {
        $names = $names ?: [$receiver->queues()->settings->queue];
        $this->keep($this->wait($receiver->queues()->serving($names), $max, $this->patience()), array_fill_keys($names, $receiver));
    }

    private function takeForAny(): void
    {
        $groups = $this->groups();
        $end = microtime(true) + $this->patience();
        $alone = count($groups) === 1;
        // Nobody's message is late because another Redis is waited on first.
        foreach ($alone ? [] : $groups as [$queue, $owners]) {
            if ($this->keep($this->wait($queue, 1, 0.0), $owners)) {
                return;
            }
        }
        do {
            foreach ($groups as [$queue, $owners]) {
                $left = max(0.0, $end - microtime(true));
                if ($this->keep($this->wait($queue, 1, $alone ? $left : min(self::TURN, $left)), $owners)) {
                    return;
                }
            }
        } while (!$this->stopped && !$this->isToEnd() && microtime(true) < $end);
    }

    /** @return list<array{DelayQueue, array<string, Receiver>}> for each Redis what to wait with, and the receivers by their queues */
    private function groups(): array
    {
        $owners = $queues = [];
        foreach ($this->receivers as $receiver) {
            $place = $receiver->queues()->place();
            foreach ($this->names ?: [$receiver->queues()->settings->queue] as $name) {
                $owners[$place][$name] ??= $receiver;
            }
            $queues[$place] ??= $receiver->queues();
        }

        return array_map(
            static fn (Queues $of, array $byName): array => [$of->serving(array_map(strval(...), array_keys($byName))), $byName],
            array_values($queues),
            array_values($owners),
        );
    }

    /**
     * @param list<Job> $jobs
     * @param array<string, Receiver> $owners
     */
    private function keep(array $jobs, array $owners): bool
    {
        foreach ($jobs as $job) {
            $owner = $owners[$job->queue];
            $owner->heartbeat($job);
            $this->taken[spl_object_id($owner)][] = $job;
        }

        return $jobs !== [];
    }

    /** @return list<Job> */
    private function wait(DelayQueue $queue, int $max, float $seconds): array
    {
        $this->waiting = $queue;
        try {
            return $this->stopped ? [] : Queues::call(static fn (): array => $queue->reserveMany($max, $seconds));
        } finally {
            $this->waiting = null;
        }
    }

    /** A batch that is not full is flushed when a round brings nothing: it must not wait for that. */
    private function patience(): float
    {
        foreach ($this->receivers as $receiver) {
            if ($receiver->hasUnsettled()) {
                return 0.0;
            }
        }

        return max(0.0, min($this->seconds, $this->until - microtime(true)));
    }
}
