<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\Tests\Database\Support\DatabaseServer;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Shop;
use DelayQueue\Tests\Faults\Support\Single;

/** A job runs exactly when its order is committed, whoever is killed meanwhile. */
final class OutboxTest extends FaultTestCase
{
    private ?Shop $shop = null;

    protected function tearDown(): void
    {
        $this->shop?->remove();
        $this->shop = null;
        parent::tearDown();
        DatabaseServer::dropAll();
    }

    /** @dataProvider databases */
    public function testEachCommittedOrderHasItsOneJob(string $name): void
    {
        $this->takeOrders($name, 20_000, 30, [0.3, 0.7], 170);
    }

    /**
     * @group quick
     * @dataProvider databases
     */
    public function testEachOfAFewOrdersHasItsOneJob(string $name): void
    {
        $this->takeOrders($name, 400, 6, [0.3], 60);
    }

    /** @return iterable<string, array{string}> */
    public static function databases(): iterable
    {
        foreach (DatabaseServer::names() as $name) {
            yield $name => [$name];
        }
    }

    /** @param list<float> $freezes */
    private function takeOrders(string $name, int $orders, int $most, array $freezes, float $patience): void
    {
        $this->setup = $redis = new Single();
        $this->shop = new Shop(DatabaseServer::named($name), $redis, $orders, $most);
        $account = $this->shop->run($freezes, $patience);
        fwrite(STDERR, "\n$name: $account\n");
        $account->assertExact($orders);
    }
}
