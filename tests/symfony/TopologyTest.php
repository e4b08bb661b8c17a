<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Symfony\Transport\Transport;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Tests\Faults\Support\Cluster;
use DelayQueue\Tests\Faults\Support\Sentinels;
use DelayQueue\Tests\Faults\Support\Setup;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

/** More servers than one. */
final class TopologyTest extends MessengerTestCase
{
    private ?Setup $servers = null;

    protected function tearDown(): void
    {
        parent::tearDown();
        putenv('SECOND_DSN');
        $this->servers?->remove();
    }

    public function testAWorkerGoesOnWhenTheSentinelsHaveChosenAnotherMaster(): void
    {
        $sentinels = new Sentinels();
        // A failover takes longer than the two seconds that an operation may take otherwise.
        $transport = $this->elsewhere($sentinels, '?read_timeout=20');
        $worker = $this->worker('elsewhere');
        $transport->send(new Envelope(new Work('before')));
        $this->deed('end', 'before');

        $old = $sentinels->masterOf('elsewhere');
        $old->kill();
        $sentinels->untilAnotherLeads('elsewhere', $old);
        $transport->send(new Envelope(new Work('after'), [new DelayStamp(300)]));
        $this->deed('end', 'after');
        $this->assertTrue($worker->isRunning());
    }

    public function testAWorkerServesQueuesOnSeveralNodesOfACluster(): void
    {
        $cluster = new Cluster();
        $this->elsewhere($cluster);
        $queues = ['high', 'low', 'orders'];
        $this->assertCount(3, array_unique(array_map(static fn (string $queue): int => $cluster->masterOf($queue)->port, $queues)));

        $this->worker('elsewhere', ...array_map(static fn (string $queue): string => "--queues=$queue", $queues));
        foreach ([...$queues, ...$queues] as $n => $queue) {
            $this->made($cluster, $queue)->send(new Envelope(new Work("$queue-$n"), [new DelayStamp(200)]));
            $this->deed('end', "$queue-$n");
        }
        $this->assertSame([1], array_values(array_unique($this->ended())));
    }

    /** The application's transport of this name, on these servers. */
    private function elsewhere(Setup $servers, string $query = ''): Transport
    {
        $this->servers = $servers;
        putenv('SECOND_DSN=' . self::dsnOf($servers) . $query);

        return $this->made($servers, 'elsewhere');
    }

    private function made(Setup $servers, string $queue): Transport
    {
        return (new TransportFactory())->createTransport(self::dsnOf($servers), ['transport_name' => $queue], new PhpSerializer());
    }

    private static function dsnOf(Setup $servers): string
    {
        return 'delayqueue' . substr($servers->dsn(), strlen('redis'));
    }
}
