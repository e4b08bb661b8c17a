<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;

/**
 * A chain as a whole, as the queue `chains` knows it: its run, and the queues of its links.
 *
 * @internal
 */
final class ChainEntry
{
    public readonly ChainMark $first;

    /** @var list<array{string, int}> name and partitions */
    private readonly array $queues;

    public function __construct(string $chain, string $json, private readonly QueueInterface $queue)
    {
        ['run' => $run, 'queues' => $this->queues] = json_decode($json, true, flags: JSON_THROW_ON_ERROR);
        $this->first = new ChainMark($chain, 1, count($this->queues), $run);
    }

    /** The job of a link, if it is in its queue. */
    public function job(ChainMark $link): ?JobInfo
    {
        $job = $this->target($link)->peek($link->jobId());

        return ($job?->headers[Chain::HEADER] ?? null) === $link->header() ? $job : null;
    }

    public function target(ChainMark $link): QueueInterface
    {
        [$name, $partitions] = $this->queues[$link->link - 1];

        return $this->queue->sibling($name, ['partitions' => $partitions]);
    }

    public function status(ChainMark $link, ?JobInfo $job): ChainStatus
    {
        return new ChainStatus($link->chain, $link->link, $link->of, $link->jobId(), $this->queues[$link->link - 1][0], $job?->state, $job?->lastError);
    }
}
