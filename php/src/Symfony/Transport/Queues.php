<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use Closure;
use DelayQueue;
use DelayQueue\Exception as DelayQueueException;
use Symfony\Component\Messenger\Exception\TransportException;
use ValueError;

/**
 * The queues of one transport, opened when they are needed, and their errors as Messenger knows them.
 *
 * @internal
 */
final class Queues
{
    /** @var array<string, DelayQueue> by the names they serve */
    private array $open = [];

    public function __construct(public readonly Settings $settings)
    {
    }

    /** The transport's own queue. */
    public function own(): DelayQueue
    {
        return $this->open[''] ??= new DelayQueue($this->settings->queue, $this->settings->dsn, $this->settings->queueOptions);
    }

    /**
     * One object that takes jobs of all of these, the first one first.
     *
     * @param non-empty-list<string> $names
     */
    public function serving(array $names): DelayQueue
    {
        if ($names === [$this->settings->queue]) {
            return $this->own();
        }
        $key = implode(',', $names);

        return $this->open[$key] ??= (new DelayQueue($this->settings->queue, $this->settings->dsn, $this->settings->queueOptions))->watch(...$names);
    }

    /** Equal for transports whose queues one DelayQueue object can serve. */
    public function place(): string
    {
        $same = array_diff_key($this->settings->queueOptions, array_flip(['ttr', 'maxAttempts', 'priority', 'maxPayload']));

        return hash('sha256', serialize([$this->settings->dsn, $same]));
    }

    public function close(): void
    {
        foreach ($this->open as $queue) {
            $queue->close();
        }
    }

    /**
     * @template T
     *
     * @param Closure(): T $work
     *
     * @return T
     *
     * @throws TransportException for each error of the extension
     */
    public static function call(Closure $work): mixed
    {
        try {
            return $work();
        } catch (DelayQueueException | ValueError $error) {
            throw new TransportException($error->getMessage(), 0, $error);
        }
    }
}
