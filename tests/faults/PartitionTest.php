<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\ConnectionException;
use DelayQueue\Tests\Faults\Support\Account;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Network;
use DelayQueue\Tests\Faults\Support\Node;
use DelayQueue\Tests\Faults\Support\Sentinels;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Wait;

/** Hosts are up and do not hear each other. */
final class PartitionTest extends FaultTestCase
{
    private Network $network;

    protected function setUp(): void
    {
        $this->network = new Network();
    }

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->network->stop();
    }

    /** @dataProvider durabilities */
    #[\PHPUnit\Framework\Attributes\DataProvider('durabilities')]
    public function testProducersOnTheSideOfAMasterThatIsCutOffLoseNothingThatAReplicaHas(string $durability): void
    {
        $account = $this->partedFor(['box1', 'client'], ['box2', 'box3'], $durability);
        $durability === 'replica' ? $account->assertWhole() : $account->assertSound();
        $this->assertGreaterThan(0, $account->count('refused') + $account->count('ambiguous'), 'a master that hears no replica stops to take jobs');
    }

    /** @dataProvider durabilities */
    #[\PHPUnit\Framework\Attributes\DataProvider('durabilities')]
    public function testProducersOnTheOtherSideFollowTheNewMaster(string $durability): void
    {
        $account = $this->partedFor(['box1'], ['box2', 'box3', 'client'], $durability);
        $durability === 'replica' ? $account->assertWhole() : $account->assertSound();
    }

    /** @dataProvider durabilities */
    #[\PHPUnit\Framework\Attributes\DataProvider('durabilities')]
    public function testAMasterThatIsKilledWhileItsReplicasLagTakesOnlyAlongWhatNoneOfThemHas(string $durability): void
    {
        $this->setup = new Sentinels(network: $this->network);
        $this->load(['queue' => ['durability' => $durability]]);
        $account = $this->withoutItsMaster(function (Node $master): void {
            $this->network->part(['box1'], ['box2', 'box3']);
            usleep(700_000);
            $master->kill();
            $this->network->drop();
            $this->network->join();
        });
        if ($durability === 'replica') {
            $account->assertWhole();
        } else {
            $account->assertSound();
            $this->assertNotEmpty($account->lost, 'otherwise this proves nothing about durability');
        }
    }

    /** @return array<string, array{string}> */
    public static function durabilities(): array
    {
        return ['memory' => ['memory'], 'replica' => ['replica']];
    }

    public function testProducersThatAloneDoNotHearTheMasterAreToldInTimeAndGoOnAfterwards(): void
    {
        $this->setup = new Sentinels(network: $this->network);
        $load = $this->load();
        $load->flow(1);
        $old = $this->setup->masterOf(self::QUEUE);
        $this->network->part(['box1'], ['client']);
        for ($n = 0; $n < 3; $n++) {
            $started = microtime(true);
            try {
                $this->queue()->push('unheard');
                $this->fail('nobody can have taken it');
            } catch (ConnectionException) {
                $this->assertLessThan(2.5, Machine::lasted($started));
            }
        }
        $this->network->join();
        $this->assertLessThan(3.0, $load->secondsUntilTheNextRun());
        $load->flow(1);
        $this->assertSame($old, $this->setup->masterOf(self::QUEUE));
        $this->account()->assertWhole();
    }

    /** @group quick */
    public function testConnectionsThatAreCutWithinAReplyLoseNothing(): void
    {
        $this->setup = new Single([], network: $this->network);
        $load = $this->load();
        $load->flow(0.3);
        for ($bytes = 0; $bytes < 200; $bytes++) {
            $this->network->cutAfter($bytes);
            usleep(10_000);
        }
        $load->flow(0.3);
        $account = $this->account();
        $account->assertWhole(200);
        // A server that closes in the middle of a login may be no Redis: that is told, and nothing is in doubt.
        $others = preg_grep('/cannot log in to/', array_keys($account->errors), PREG_GREP_INVERT);
        $this->assertSame([], $others, 'a lost connection is replaced');
    }

    /** @group quick */
    public function testASilentOrSlowNetworkCostsNoMoreThanTheDeadline(): void
    {
        $this->setup = new Single([], network: $this->network);
        $queue = $this->queue(['readTimeout' => 1, 'connectTimeout' => 0.5]);
        $queue->push(str_repeat('x', 65_536), id: 'large');
        foreach (['silent' => fn () => $this->network->part(['box1'], ['client']), 'slow' => fn () => $this->network->slow(5)] as $how => $make) {
            $make();
            foreach ([fn () => $queue->peek('large'), fn () => $queue->reserve(), fn () => $queue->reserve(20)] as $call) {
                $started = microtime(true);
                try {
                    $call();
                    $this->fail("$how: no reply can have come in time");
                } catch (ConnectionException) {
                    $this->assertLessThan(1.95, Machine::lasted($started), $how);
                }
            }
            $this->network->join();
            $payload = Wait::until(static function () use ($queue): ?string {
                try {
                    return $queue->peek('large')?->payload;
                } catch (ConnectionException) {
                    return null; // a server that kept silent is asked again a second later
                }
            }, 2.5, 'an answer');
            $this->assertSame(65_536, strlen($payload), 'no late reply is taken for another');
        }
        $this->assertSame('next', $queue->reserveJob($queue->push('next'))?->payload);
    }

    /**
     * @param list<string> $one
     * @param list<string> $other
     */
    private function partedFor(array $one, array $other, string $durability): Account
    {
        $this->setup = new Sentinels(['min-replicas-to-write 1', 'min-replicas-max-lag 2'], network: $this->network);
        $load = $this->load(['queue' => ['durability' => $durability]]);
        $load->flow(1);
        $old = $this->setup->masterOf(self::QUEUE);
        $this->network->part($one, $other);
        $others = array_slice($this->setup->sentinels(), 1);
        Wait::until(static function () use ($others, $old): bool {
            $names = array_map(static fn ($sentinel) => $sentinel->ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'orders-redis')[1], $others);

            return $names[0] === $names[1] && $names[0] !== (string) $old->front;
        }, 30, 'the other side has another master');
        if (in_array('client', $other, true)) {
            $this->assertLessThan(3.0, $load->secondsUntilTheNextRun());
        }
        usleep(2_500_000);
        $this->network->join();
        $this->setup->untilWhole();
        $this->assertNotSame($old, $this->setup->masterOf(self::QUEUE));
        $load->flow(1);
        $account = $this->account();

        return $account;
    }
}
