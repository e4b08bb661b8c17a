<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use Closure;
use DelayQueue;
use DelayQueue\ConnectionException;
use DelayQueue\Console\Database\FailureLog;
use DelayQueue\Console\Target;
use DelayQueue\Internal\Json;
use DelayQueue\ServerException;
use Symfony\Component\Console\Input\InputInterface;

/** Tells the parent once a second how long the ready jobs of its workers' queues wait. */
final class Gauge
{
    private const EVERY_US = 1_000_000;

    /** @var list<DelayQueue> */
    private readonly array $queues;

    private readonly FailureLog $failures;

    /** Seconds that a job may wait. */
    private readonly float $target;

    public function __construct(InputInterface $input, Notices $notices)
    {
        $this->failures = new FailureLog($notices, 'gaugeFailed');
        $this->target = Processes::of($input)->target;
        $place = new Target($input);
        // Their jobs are not opened.
        $this->queues = array_map($place->openWithoutKeys(...), $place->names());
    }

    /**
     * @param Closure(): bool $stop
     * @param Closure(): void $ready
     * @param Closure(string): void $tell
     */
    public function run(Closure $stop, Closure $ready, Closure $tell): void
    {
        $ready();
        while (!$stop()) {
            try {
                $tell(Json::line($this->measure()));
            } catch (ConnectionException | ServerException $error) {
                // Without a word of it the number of workers stays.
                $this->failures->add('nobody knows how long jobs wait, so the number of workers stays', $error);
            }
            $stop() || usleep(self::EVERY_US);
        }
    }

    /** @return array{queue: string, wait: float} the queue whose jobs wait for longest */
    private function measure(): array
    {
        $longest = ['queue' => $this->queues[0]->name(), 'wait' => 0.0];
        foreach ($this->queues as $queue) {
            $stats = $queue->stats();
            $wait = $stats->paused ? 0.0 : $stats->oldestReadyAge ?? 0.0;
            if ($wait > $longest['wait'] && ($wait <= $this->target || !self::isHeld($queue))) {
                $longest = ['queue' => $queue->name(), 'wait' => round($wait, 3)];
            }
        }

        return $longest;
    }

    /** An operator has ordered workers of the queue to stop or to pause. One that is added would not be told. */
    private static function isHeld(DelayQueue $queue): bool
    {
        try {
            $workers = $queue->workers(queue: $queue->name());
        } catch (ServerException) {
            return false; // a user without the right to look
        }
        foreach ($workers as $worker) {
            if ($worker['state'] === 'paused' || array_intersect(['stop', 'pause'], $worker['orders']) !== []) {
                return true;
            }
        }

        return false;
    }
}
