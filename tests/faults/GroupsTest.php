<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\GroupLimits;
use DelayQueue\Tests\Faults\Support\Cluster;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Load;
use DelayQueue\Tests\Faults\Support\Node;
use DelayQueue\Tests\Faults\Support\Sentinels;
use DelayQueue\Tests\Faults\Support\Single;

/** Groups with limits, some of them ordered, while workers and servers fail. */
final class GroupsTest extends FaultTestCase
{
    /** @group quick */
    public function testKilledWorkersLeaveTheirGroupsInOrderAndWithinTheirLimits(): void
    {
        $this->setup = new Single(['appendonly no']);
        $load = $this->limited();
        for ($kill = 0; $kill < 4; $kill++) {
            $load->flow(0.4);
            $load->killAWorker();
        }
        $load->flow(0.4);
        $this->account(30)->assertWhole();
        $load->turns()->assertWithinLimits();
        $this->assertSame([], $this->queue()->groups(), 'nothing is left in any book');
    }

    /** @group quick */
    public function testAQueueWithGroupsMovesToAnotherNodeAndKeepsTheirOrderAndLimits(): void
    {
        $this->setup = new Cluster();
        $load = $this->limited(['queue' => ['partitions' => 2]]);
        for ($move = 0; $move < 2; $move++) {
            $load->flow(0.4);
            $master = $this->setup->masterOf(self::QUEUE);
            $others = array_filter($this->setup->masters(), static fn (Node $node) => $node !== $master);
            $this->setup->moveSlot($this->setup->slotOf(self::QUEUE), $others[array_rand($others)], static fn () => usleep(20_000));
        }
        $load->flow(0.4);
        $account = $this->account(30);
        $account->assertWhole(0);
        $this->assertSame([], $account->errors);
        $load->turns()->assertWithinLimits();
    }

    /** Leases that no replica had may be given twice: only what is acknowledged is safe. */
    public function testAMasterThatIsLostTakesNoJobOfAGroupAlong(): void
    {
        $this->setup = new Sentinels(['min-replicas-to-write 1', 'min-replicas-max-lag 2']);
        $this->limited(['queue' => ['durability' => 'replica']]);
        $this->withoutItsMaster(static fn (Node $master) => $master->kill(), 1, 30)->assertWhole();
        $this->assertSame([], $this->queue()->groups());
    }

    /** @param array<string, mixed> $options of Load */
    private function limited(array $options = []): Load
    {
        $queue = $this->queue($options['queue'] ?? []);
        $queue->limitGroups(null, new GroupLimits(concurrency: 2));
        foreach (['p0', 'p1'] as $producer) {
            for ($n = 0; $n < 3; $n++) {
                $queue->limitGroups("$producer-ordered-$n", new GroupLimits(ordered: true));
            }
        }

        return $this->load($options + ['pause' => 2_000, 'groups' => true]);
    }
}
