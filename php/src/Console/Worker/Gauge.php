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

    public function __construct(InputInterface $input, Notices $notices)
    {
        $this->failures = new FailureLog($notices, 'gaugeFailed');
        $target = new Target($input);
        // Their jobs are not opened.
        $this->queues = array_map($target->openWithoutKeys(...), $target->names());
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
            // An operator keeps the jobs waiting: a worker that is added would take them.
            $isHeld = $stats->paused || ($stats->workers['paused'] ?? 0) > 0;
            $wait = $isHeld ? 0.0 : $stats->oldestReadyAge ?? 0.0;
            $longest = $wait > $longest['wait'] ? ['queue' => $queue->name(), 'wait' => round($wait, 3)] : $longest;
        }

        return $longest;
    }
}
