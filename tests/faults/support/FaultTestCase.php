<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue;
use PHPUnit\Framework\TestCase;

/** A test with servers and a load of its own, which end with it. */
abstract class FaultTestCase extends TestCase
{
    protected const QUEUE = 'orders';

    protected ?Setup $setup = null;

    protected ?Load $load = null;

    protected function tearDown(): void
    {
        $this->load?->remove();
        $this->setup?->remove();
        $this->load = $this->setup = null;
    }

    /** @param array<string, mixed> $options of DelayQueue */
    protected function queue(array $options = []): DelayQueue
    {
        return new DelayQueue(self::QUEUE, $this->setup->dsn(), $options);
    }

    /** @param array<string, mixed> $options of Load */
    protected function load(array $options = []): Load
    {
        return $this->load = new Load($this->setup->dsn(), self::QUEUE, $options);
    }

    /** A line for readers of the run: accounts are worth more than a dot. */
    protected function report(Account $account): void
    {
        fwrite(STDERR, sprintf("\n%s: %s\n", $this->getName(), $account));
    }
}
