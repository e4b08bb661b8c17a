<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue;
use DelayQueue\ServerException;
use DelayQueue\Tests\Faults\Support\Cluster;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Node;
use DelayQueue\Tests\Support\Machine;

/** Three masters with a replica each: masters fail, slots move, and the work goes on. */
final class ClusterTest extends FaultTestCase
{
    /** @dataProvider faults */
    #[\PHPUnit\Framework\Attributes\DataProvider('faults')]
    public function testWorkGoesOnUnderAnotherMasterAndNothingThatIsSafeIsLost(
        string $fault,
        string $durability,
        bool $losesNothing,
    ): void {
        $this->setup = new Cluster();
        $this->load(['queue' => ['durability' => $durability]]);
        // Of the pair one is left: with durability 'replica' pushes are in doubt until the other is back, and stored all the same.
        $account = $this->withoutItsMaster(fn (Node $master) => $fault === 'failOver' ? $this->setup->failOver(self::QUEUE) : $master->$fault());
        $losesNothing ? $account->assertWhole() : $account->assertSound();
    }

    /** @return iterable<string, array{string, string, bool}> */
    public static function faults(): iterable
    {
        foreach (['kill' => 'killed', 'freeze' => 'frozen'] as $fault => $name) {
            yield "$name, memory" => [$fault, 'memory', false];
            yield "$name, replica" => [$fault, 'replica', true];
        }
        // The master stops to serve and waits until its replica has everything.
        yield 'planned, memory' => ['failOver', 'memory', true];
        yield 'planned, replica' => ['failOver', 'replica', true];
    }

    /** @group quick */
    public function testTheSlotOfAQueueMovesUnderLoadAndNobodyNotices(): void
    {
        $this->setup = new Cluster();
        $load = $this->load(['mix' => true]);
        for ($round = 0; $round < 3; $round++) {
            $load->flow(0.5);
            $this->setup->moveSlot($this->setup->slotOf(self::QUEUE), $this->another(), static fn () => usleep(20_000));
        }
        $load->flow(0.5);
        $account = $this->account();
        $account->assertWhole(0);
        $this->assertSame([], $account->errors);
        $this->assertSame(0, $account->count('refused') + $account->count('ambiguous'));
    }

    public function testAQueueOfSeveralPartitionsSurvivesTheLossOfAMasterAndMovingSlots(): void
    {
        $this->setup = new Cluster();
        $options = ['durability' => 'replica', 'partitions' => 6];
        $this->load(['queue' => $options, 'mix' => true]);
        $this->withoutItsMaster(function (Node $master): void {
            $this->setup->moveSlot($this->setup->slotOf(self::QUEUE . '#1'), $this->another());
            $master->kill();
        })->assertWhole();
        $this->assertSame(6, $this->queue($options)->partitions());
    }

    public function testAClusterThatIsDownIsWaitedForWithinTheDeadlineAndThenNamed(): void
    {
        $this->setup = new Cluster();
        $queue = $this->queue(['readTimeout' => 1]);
        $id = $queue->push('before');
        // Its slot has no master and no replica any more; the other masters refuse, because a part of the slots is not served.
        $others = array_filter($this->setup->masters(), fn (Node $node) => $node !== $this->setup->masterOf(self::QUEUE));
        $gone = reset($others);
        $slot = $this->setup->slotOf('another');
        for ($n = 0; $this->setup->masterOfSlot($slot) !== $gone; $n++) {
            $slot = $this->setup->slotOf("another-$n");
        }
        $pair = [$gone, $this->setup->nodes()[3 + array_search($gone, $this->setup->nodes(), true)]];
        foreach ($pair as $node) {
            $node->kill();
        }
        $refused = null;
        for ($until = microtime(true) + 15; $refused === null && microtime(true) < $until;) {
            $started = microtime(true);
            try {
                $queue->push('while it is down');
            } catch (ServerException $e) {
                $refused = $e;
                $this->assertLessThan(1.9, Machine::lasted($started));
            }
        }
        $this->assertSame('CLUSTERDOWN', $refused?->redisCode);
        $this->setup->heal();
        $this->setup->untilWhole();
        $this->assertSame('after', $queue->peek($queue->push('after'))->payload);
        $this->assertSame($id, $queue->reserve()->id);
    }

    private function another(): Node
    {
        $others = array_filter($this->setup->masters(), fn (Node $node) => $node !== $this->setup->masterOf(self::QUEUE));

        return $others[array_rand($others)];
    }
}
