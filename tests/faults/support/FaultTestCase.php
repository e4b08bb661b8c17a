<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use Closure;
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

    /** Ends the load. Its account is also a line for readers of the run, to whom it is worth more than a dot. */
    protected function account(float $patience = 10.0): Account
    {
        $account = $this->load->account($patience);
        fwrite(STDERR, sprintf("\n%s: %s\n", $this->getName(), $account));

        return $account;
    }

    /**
     * Takes the master away under load. Workers go on once another one leads, lose one of their own, and everything comes back.
     *
     * @param Closure(Node): mixed $take
     * @param float $flow seconds for which the load flows under the other master
     */
    protected function withoutItsMaster(Closure $take, float $flow = 0.0, float $patience = 10.0): Account
    {
        $this->load->flow(1);
        $old = $this->setup->masterOf(self::QUEUE);
        $take($old);
        $this->setup->untilAnotherLeads(self::QUEUE, $old);
        $this->assertLessThan(3.0, $this->load->secondsUntilTheNextRun(), 'workers go on once there is another master');
        if ($flow > 0) {
            $this->load->flow($flow);
        }
        $this->load->killAWorker();

        return $this->healed($patience);
    }

    protected function healed(float $patience = 10.0): Account
    {
        $this->setup->heal();
        $this->setup->untilWhole();
        $this->load->flow(1);

        return $this->account($patience);
    }
}
