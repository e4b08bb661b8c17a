<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\QueueInterface;
use PHPUnit\Framework\TestCase;

/** Searches work on any queue: the rules are tested with and without partitions. */
abstract class SearchCase extends TestCase
{
    use BoundedRules;
    use BulkRules;
    use MoveRules;
    use SearchRules;

    /** @param array<string, mixed> $options */
    abstract protected function queue(string $name = 'jobs', array $options = []): QueueInterface;

    protected function partitions(): int
    {
        return 1;
    }

    /**
     * The queue, behind something that comes between.
     *
     * @param callable(string, callable(): mixed): mixed $between gets the name of a method, and what calls it
     */
    protected function interposed(QueueInterface $queue, callable $between): QueueInterface
    {
        $stub = $this->createStub(QueueInterface::class);
        foreach (get_class_methods(QueueInterface::class) as $method) {
            $call = static fn (mixed ...$arguments): mixed => $between($method, static fn (): mixed => $queue->$method(...$arguments));
            $sibling = fn (string $name, array $options = []): QueueInterface => $this->interposed($queue->sibling($name, $options), $between);
            $stub->method($method)->willReturnCallback($method === 'sibling' ? $sibling : $call);
        }

        return $stub;
    }
}
