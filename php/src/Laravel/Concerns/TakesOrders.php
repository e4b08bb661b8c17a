<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use DelayQueue;
use DelayQueue\Enlisted;
use DelayQueue\Laravel\Payload;
use DelayQueue\Laravel\Queue;
use DelayQueue\WorkerOrder;
use Error;
use Illuminate\Queue\WorkerOptions;

/** The worker in the list of workers(), where operators see it and give it orders. It obeys as it obeys queue:restart, signals and pauses. */
trait TakesOrders
{
    private ?Enlisted $enlisted = null;

    /** The object that is on the list. */
    private ?DelayQueue $listed = null;

    protected function daemonShouldRun(WorkerOptions $options, $connectionName, $queue)
    {
        return $this->order() !== WorkerOrder::Pause && parent::daemonShouldRun($options, $connectionName, $queue);
    }

    protected function queueShouldRestart($lastRestart)
    {
        return $this->order() === WorkerOrder::Restart || parent::queueShouldRestart($lastRestart);
    }

    /** @param list<string> $queues that it serves now; it stays on the list with those of before where there is none */
    private function enlist(Queue $connection, array $queues): void
    {
        $native = $queues === [] ? $this->listed : $connection->serving($queues);
        if ($native === null || $native === $this->listed || $this->order() !== null) {
            return;
        }
        $this->leave();
        try {
            [$this->enlisted, $this->listed] = [$native->enlist('laravel', Payload::classOf($native)), $native];
        } catch (Error) {
            // In a request of a server, or in the handler of a job: such a worker is on no list.
        }
    }

    private function order(): ?WorkerOrder
    {
        $order = $this->enlisted?->order();
        $this->shouldQuit = $this->shouldQuit || $order === WorkerOrder::Stop;

        return $order;
    }

    private function leave(): void
    {
        $this->enlisted?->close();
        $this->enlisted = $this->listed = null;
    }
}
