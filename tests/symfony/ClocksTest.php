<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DateInterval;
use DateTimeImmutable;
use DelayQueue\State;
use DelayQueue\Symfony\Canceller;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Symfony\Transport\Transport;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Tests\Support\SkewedRedis;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\DependencyInjection\ServiceLocator;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

/** Messenger's delays come of the host's clock: whatever Redis' clock says, a message waits as long as was meant. */
final class ClocksTest extends MessengerTestCase
{
    private ?SkewedRedis $redis = null;

    protected function tearDown(): void
    {
        $this->redis?->stop();
        parent::tearDown();
    }

    public function testDelaysWithARedisAnHourBehind(): void
    {
        $this->delaysAreKept(-3600);
    }

    public function testDelaysWithARedisAnHourAhead(): void
    {
        $this->delaysAreKept(3600);
    }

    private function delaysAreKept(int $skew): void
    {
        $transport = $this->skewed($skew);
        foreach ([DelayStamp::delayFor(new DateInterval('PT15M')), DelayStamp::delayUntil(new DateTimeImmutable('+15 minutes'))] as $n => $stamp) {
            $transport->send(new Envelope(new Work("sent $n"), [$stamp, new DelayQueueStamp("sent-$n")]));
        }
        $transport->send(new Envelope(new Work('retried'), [new DelayQueueStamp('retried')]));
        [$envelope] = $transport->get();
        $transport->send($envelope->with(new DelayStamp(900_000), new RedeliveryStamp(1)));

        $transport->send(new Envelope(new Work('moved'), [new DelayQueueStamp('moved'), new DelayStamp(60_000)]));
        $canceller = new Canceller(new ServiceLocator(['orders' => static fn (): Transport => $transport]), new TransportFactory());
        $this->assertTrue($canceller->reschedule('moved', new DateTimeImmutable('+15 minutes'), 'orders'));

        foreach (['sent-0', 'sent-1', 'retried', 'moved'] as $id) {
            $job = $transport->queue()->peek($id);
            $this->assertSame(State::Delayed, $job?->state, $id);
            $this->assertEqualsWithDelta(microtime(true) + $skew + 900, $job->dueAt, 2.0, $id);
        }
        $this->assertDelayed('sent-0', $transport->queue(), 900);
    }

    public function testAMomentThatHasPassedIsDueAtOnceTheOldestFirst(): void
    {
        foreach ([-3600, 3600] as $skew) {
            $this->redis?->stop();
            $transport = $this->skewed($skew);
            foreach (['later' => 1000, 'earlier' => 5000, 'last' => 1] as $name => $ms) {
                $transport->send(new Envelope(new Work($name), [new DelayStamp(-$ms)]));
            }
            $names = array_map(static fn () => $transport->get()[0]->getMessage()->name, range(1, 3));
            $this->assertSame(['earlier', 'later', 'last'], $names, "$skew s");
        }
    }

    private function skewed(int $seconds): Transport
    {
        $this->redis = new SkewedRedis($seconds);

        return (new TransportFactory())->createTransport('delayqueue' . substr($this->redis->dsn(), strlen('redis')), ['transport_name' => 'orders'], new PhpSerializer());
    }
}
