<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\Tests\Faults\Support\FaultTestCase;
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
        $load->flow(1);
        $old = $this->setup->masterOf(self::QUEUE);
        $this->$fault();
        $this->setup->untilAnotherLeads(self::QUEUE, $old);
        if ($replicas > 1) {
            $this->assertLessThan(3.0, $load->secondsUntilTheNextRun(), 'workers go on once there is another master');
            $load->flow(1);
            $load->killAWorker();
        }
        $this->setup->heal();
        $this->setup->untilWhole();
        $load->flow(1);
        $account = $load->account();
        $this->report($account);
        $losesNothing ? $account->assertWhole() : $account->assertSound();
    }

    /** @return iterable<string, array{string, array<string, mixed>, int, int, bool}> the fault, the options of the queue, replicas there are, replicas a write needs, whether nothing is lost */
    public static function faults(): iterable
    {
        [$memory, $replica] = [['durability' => 'memory'], ['durability' => 'replica']];
        // Replication is asynchronous: without durability 'replica' a master takes its last writes along.
        foreach (['killed', 'frozen'] as $fault) {
            yield "$fault, memory" => [$fault, $memory, 2, 1, false];
            yield "$fault, replica" => [$fault, $replica, 2, 1, true];
        }
        // In a planned failover the old master goes on for seconds, and the second replica with it.
        yield 'planned, memory' => ['failedOverAsPlanned', $memory, 2, 1, false];
        yield 'planned, replica of one' => ['failedOverAsPlanned', $replica, 1, 1, true];
        yield 'planned, replica of two' => ['failedOverAsPlanned', $replica, 2, 1, false];
        // A master that needs both to write still answers what it got before it noticed that one has left: few are lost, but not none.
        yield 'planned, replica of two, writes need both' => ['failedOverAsPlanned', $replica, 2, 2, false];
        yield 'planned, both replicas' => ['failedOverAsPlanned', $replica + ['replicas' => 2], 2, 1, true];
        yield 'planned, memory, writes paused before' => ['failedOverAfterAPause', $memory, 2, 1, true];
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
        $account = $load->account();
        $this->report($account);
        $account->assertWhole(0);
        $this->assertSame([], $account->errors);
    }

    private function killed(): void
    {
        $this->setup->masterOf(self::QUEUE)->kill();
    }

    private function frozen(): void
    {
        $this->setup->masterOf(self::QUEUE)->freeze();
    }

    private function failedOverAsPlanned(): void
    {
        $this->setup->failOver();
    }

    private function failedOverAfterAPause(): void
    {
        $this->setup->masterOf(self::QUEUE)->ask('CLIENT', 'PAUSE', '10000', 'WRITE');
        $this->setup->failOver();
    }
}
