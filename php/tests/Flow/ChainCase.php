<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use ArrayObject;
use DelayQueue;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;

/** Makes chains, and runs their jobs. */
abstract class ChainCase extends TestCase
{
    use OnAnyStore;

    /** @param array<string, mixed> $options */
    protected function queue(string $name = 'links', array $options = []): DelayQueue
    {
        return $this->delayQueue($name, $options);
    }

    /** @param array<string, mixed> ...$links whose payloads are given by their position */
    protected function chain(string $id, array ...$links): Chain
    {
        $links[0] += ['id' => $id];
        $number = 0;

        return Chain::of(...array_map(static function (array $link) use (&$number): array {
            return $link + ['payload' => ++$number];
        }, array_values($links)));
    }

    /**
     * Runs what is due in the queues until nothing is.
     *
     * @param callable(JobInterface): mixed|null $handler
     *
     * @return list<string> the ids of the jobs in the order of their runs
     */
    protected function work(?callable $handler = null, string ...$queues): array
    {
        $ran = new ArrayObject();
        $queue = $this->queue()->watch(...$queues ?: ['links']);
        $queue->drain(new Follow(static function (JobInterface $job, QueueInterface $queue) use ($handler, $ran): mixed {
            $ran[] = $job->id;

            return $handler === null ? null : $handler($job, $queue);
        }));

        return $ran->getArrayCopy();
    }

    /** The header of a link, such as 2/3, of the run of a chain that has not ended. */
    protected function mark(string $chain, string $link): string
    {
        return "$link " . json_decode($this->queue('chains')->peek("$chain/0")->body)->run;
    }

    protected function assertNoChains(): void
    {
        $this->assertSame([], array_column($this->queue('chains')->list(State::Delayed), 'id'));
    }
}
