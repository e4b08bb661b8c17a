<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\Tests\Database\Support\DatabaseServer;
use DelayQueue\Tests\Database\Support\OnEachDatabase;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Shop;
use DelayQueue\Tests\Faults\Support\Single;

/** A job runs exactly when its order is committed, whoever is killed meanwhile. */
final class OutboxTest extends FaultTestCase
{
    use OnEachDatabase {
        tearDown as private tearDownDatabases;
    }

    private ?Shop $shop = null;

    protected function tearDown(): void
    {
        $this->shop?->remove();
        $this->shop = null;
        $this->tearDownDatabases();
    }

    /** @dataProvider databases */
    public function testEachCommittedOrderHasItsOneJob(string $name): void
    {
        $this->takeOrders($name, 20_000, 30, [[0.3, 'freeze'], [0.5, 'crash'], [0.7, 'freeze']], 170);
    }

    /**
     * @group quick
     * @dataProvider databases
     */
    public function testEachOfAFewOrdersHasItsOneJob(string $name): void
    {
        $this->takeOrders($name, 400, 6, [[0.3, 'freeze']], 170);
    }

    /** @dataProvider databases */
    public function testARedisThatComesBackEmptyIsRebuiltFromTheJournal(string $name): void
    {
        $this->loseJobs($name, [[0.3, 'lose'], [0.7, 'lose']], true);
    }

    /** @dataProvider databases */
    public function testARedisThatComesBackWithAnOlderStateIsRebuiltFromTheJournal(string $name): void
    {
        // Cancelled jobs come back with it.
        $this->loseJobs($name, [[0.3, 'save'], [0.6, 'lose']], false);
    }

    /** @param list<array{float, string}> $faults */
    private function takeOrders(string $name, int $orders, int $most, array $faults, float $patience): void
    {
        $this->setup = $redis = new Single();
        $this->shop = new Shop(DatabaseServer::named($name), $redis, $orders, $most);
        $account = $this->shop->run($faults, $patience);
        fwrite(STDERR, "\n$name: $account\n");
        $account->assertExact($orders);
    }

    /** @param list<array{float, string}> $faults */
    private function loseJobs(string $name, array $faults, bool $regrets): void
    {
        // Only what a test saves is on its disk.
        $this->setup = $redis = new Single(['appendonly no']);
        $this->shop = new Shop(DatabaseServer::named($name), $redis, 4000, 15, remembers: true, regrets: $regrets);
        $account = $this->shop->run($faults, 120);
        fwrite(STDERR, "\n$name: $account\n");
        $account->assertWhole(4000);
    }
}
