<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Tests\Faults\Support\Cluster;
use DelayQueue\Tests\Faults\Support\Sentinels;
use DelayQueue\Tests\Faults\Support\Setup;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Support\Wait;

/** More servers than one. */
final class TopologyTest extends LaravelTestCase
{
    private ?Setup $servers = null;

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->servers?->remove();
    }

    public function testAWorkerGoesOnWhenTheSentinelsHaveChosenAnotherMaster(): void
    {
        $this->servers = $sentinels = new Sentinels();
        $this->boot(['dsn' => $sentinels->dsn()]);
        Deed::dispatch('before');
        $worker = $this->start('queue:work');
        $this->awaitLine('/^end before/');

        $old = $sentinels->masterOf('default');
        $old->kill();
        $sentinels->untilAnotherLeads('default', $old);
        Deed::dispatch('after')->delay(now()->addMilliseconds(300));
        $this->awaitLine('/^end after/', 30);
        $this->assertTrue($worker->isRunning());
    }

    public function testAWorkerServesQueuesOnSeveralNodesOfACluster(): void
    {
        $this->servers = $cluster = new Cluster();
        $address = static fn (string $node): array => array_combine(['host', 'port'], explode(':', $node));
        $nodes = array_map($address, explode(',', substr($cluster->dsn(), strlen('redis+cluster://'))));
        putenv('TEST_REDIS_CLUSTERS=' . json_encode(['many' => $nodes]));
        $this->boot(['connection' => 'many']);
        $queues = ['high', 'low', 'orders'];
        $this->assertCount(3, array_unique(array_map(static fn (string $queue): int => $cluster->masterOf($queue)->port, $queues)));

        $this->start('queue:work', '--queue=' . implode(',', $queues));
        foreach ([...$queues, ...$queues] as $n => $queue) {
            Deed::dispatch("$queue-$n")->onQueue($queue)->delay(now()->addMilliseconds(200));
            $this->awaitLine("/^end $queue-$n /");
        }
        Wait::until(fn (): bool => $this->queue()->totalSize() === 0, 10, 'empty queues');
    }
}
