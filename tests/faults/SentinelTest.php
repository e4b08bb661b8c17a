<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Node;
use DelayQueue\Tests\Faults\Support\Sentinels;

/** A master with replicas and Sentinels: the master fails in one way or another, and the work goes on. */
final class SentinelTest extends FaultTestCase
{
    /** @dataProvider faults */
    #[\PHPUnit\Framework\Attributes\DataProvider('faults')]
    public function testWorkGoesOnUnderAnotherMasterAndNothingThatIsSafeIsLost(
        string $fault,
        array $options,
        int $replicas,
        int $needed,
        bool $losesNothing,
    ): void {
        $this->setup = new Sentinels(["min-replicas-to-write $needed", 'min-replicas-max-lag 2'], $replicas);
        $load = $this->load(['queue' => $options]);
        $take = fn (Node $master) => match ($fault) {
            'kill', 'freeze' => $master->$fault(),
            'failOver' => $this->setup->failOver(),
            'failOver after a pause' => [$master->ask('CLIENT', 'PAUSE', '10000', 'WRITE'), $this->setup->failOver()],
        };
        if ($replicas > 1) {
            $account = $this->withoutItsMaster($take, 1);
        } else {
            $load->flow(1);
            $take($old = $this->setup->masterOf(self::QUEUE));
            $this->setup->untilAnotherLeads(self::QUEUE, $old);
            $account = $this->healed();
        }
        $losesNothing ? $account->assertWhole() : $account->assertSound();
    }

    /** @return iterable<string, array{string, array<string, mixed>, int, int, bool}> the fault, the options of the queue, replicas there are, replicas a write needs, whether nothing is lost */
    public static function faults(): iterable
    {
        [$memory, $replica] = [['durability' => 'memory'], ['durability' => 'replica']];
        // Replication is asynchronous: without durability 'replica' a master takes its last writes along.
        foreach (['kill' => 'killed', 'freeze' => 'frozen'] as $fault => $name) {
            yield "$name, memory" => [$fault, $memory, 2, 1, false];
            yield "$name, replica" => [$fault, $replica, 2, 1, true];
        }
        // In a planned failover the old master goes on for seconds, and the second replica with it.
        yield 'planned, memory' => ['failOver', $memory, 2, 1, false];
        yield 'planned, replica of one' => ['failOver', $replica, 1, 1, true];
        yield 'planned, replica of two' => ['failOver', $replica, 2, 1, false];
        // A master that needs both to write still answers what it got before it noticed that one has left: few are lost, but not none.
        yield 'planned, replica of two, writes need both' => ['failOver', $replica, 2, 2, false];
        yield 'planned, both replicas' => ['failOver', $replica + ['replicas' => 2], 2, 1, true];
        yield 'planned, memory, writes paused before' => ['failOver after a pause', $memory, 2, 1, true];
    }

    public function testAReplicaThatIsKilledOrFrozenIsNotMissedWhileThereIsAnother(): void
    {
        $this->setup = new Sentinels(['min-replicas-to-write 1', 'min-replicas-max-lag 2']);
        $load = $this->load(['queue' => ['durability' => 'replica']]);
        $load->flow(0.5);
        foreach (['kill', 'freeze'] as $fault) {
            $this->setup->replicasOf(self::QUEUE)[0]->$fault();
            $load->flow(2.5);
            $this->setup->heal();
            $this->setup->untilWhole();
        }
        $account = $this->account();
        $account->assertWhole(0);
        $this->assertSame([], $account->errors);
    }
}
