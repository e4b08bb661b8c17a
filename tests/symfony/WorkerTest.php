<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\OnDuplicate;
use DelayQueue\State;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\Tests\Symfony\App\BatchWork;
use DelayQueue\Tests\Symfony\App\Work;
use DelayQueue\WorkerOrder;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;

/** messenger:consume in processes of its own. */
final class WorkerTest extends MessengerTestCase
{
    public function testAnIdleWorkerTakesAMessageAtItsTime(): void
    {
        $transport = $this->transport();
        $worker = $this->worker('orders');
        $late = [];
        for ($n = 0; $n < 5; $n++) {
            $transport->send(new Envelope(new Work("a$n"), [new DelayStamp(330), new DelayQueueStamp("a$n")]));
            $due = $this->jobs('orders')->peek("a$n")->dueAt;
            $begun = $this->deed('begin', "a$n")[3];
            $this->assertGreaterThanOrEqual($due, $begun);
            $late[] = $begun - $due - Machine::stallsSince($due);
            $this->until(fn () => $this->jobs('orders')->count() === 0, 'it is acknowledged');
        }
        $this->assertLessThan(0.2, min($late), json_encode($late)); // sleeping a second would be 0.67 late
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode());
    }

    public function testAMessageOfAWorkerThatWasKilledIsHandledByAnother(): void
    {
        $this->transport('short')->send(new Envelope(new Work('a', 'wait'), [new DelayQueueStamp('a')]));
        $killed = $this->worker('short');
        $pid = $this->deed('begin', 'a')[2];
        $killed->kill();
        $this->worker('short');
        $this->assertNotSame($pid, $this->deed('begin', 'a', 2)[2]);
        $this->journal->letGo('a');
        $this->deed('end', 'a');
        $this->until(fn () => $this->jobs('short')->count() === 0, 'it is acknowledged');
        $this->assertSame(['a' => 1], $this->ended());
    }

    public function testAMessageThatIsCancelledWhileItWaitsBehindAnotherIsPassedOver(): void
    {
        foreach (['a' => 'wait', 'b' => 'nothing', 'c' => 'nothing'] as $name => $do) {
            $this->appTransport('ahead')->send(new Envelope(new Work($name, $do), [new DelayQueueStamp($name)]));
        }
        $worker = $this->worker('ahead');
        $this->deed('begin', 'a');
        $this->assertSame(1, $this->jobs('ahead')->cancel('b'));
        $lease = fn (): ?float => $this->jobs('ahead')->peek('c')?->leaseUntil;
        $before = $lease();
        $this->until(fn (): bool => $lease() > $before + 1.0, 'the worker has renewed its leases, and missed one');
        $this->journal->letGo('a');
        $this->deed('end', 'c');
        $this->assertSame(['a' => 1, 'c' => 1], $this->ended());
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode());
    }

    public function testAWorkerIsListedObeysOrdersAndLeavesTheListHoweverItEnds(): void
    {
        $listed = fn (Process $worker): ?array => array_values(array_filter(
            $this->jobs('orders')->workers(),
            static fn (array $entry): bool => $entry['pid'] === $worker->pid,
        ))[0] ?? null;
        $killed = $this->worker('short');
        $worker = $this->worker('orders', 'short');
        Wait::promised(fn () => $listed($worker) !== null && $listed($killed) !== null, 1, 'both are in the list');
        $entry = $listed($worker);
        $this->assertSame(['messenger', 'idle'], [$entry['kind'], $entry['state']]);
        $this->assertSame(['orders', 'short'], $entry['queues']);
        $killed->kill();
        $killedAt = microtime(true);

        $tell = fn (WorkerOrder $order) => $this->assertSame(1, $this->jobs('orders')->tellWorkers($order, $entry['host'], $worker->pid));
        $tell(WorkerOrder::Pause);
        Wait::promised(fn () => $listed($worker)['state'] === 'paused', 12, 'it is paused');
        Wait::promised(fn () => $listed($killed) === null, 28, 'one that was killed is off the list', $killedAt);
        $this->transport()->send(new Envelope(new Work('a')));
        usleep(1_500_000);
        $this->assertSame([], $this->ended());
        $tell(WorkerOrder::Resume);
        $this->deed('end', 'a');
        $tell(WorkerOrder::Restart);
        Wait::promised(static fn () => !$worker->isRunning(), 12, 'it makes place for a new process');
        $this->assertSame(0, $worker->exitCode());
        $this->assertNull($listed($worker), 'one that ends is off the list at once');
        $this->assertSame(1, $this->jobs('orders')->tasks()[Work::class]['runs'], 'it has counted its message');

        $worker = $this->worker('orders');
        $this->until(fn () => $listed($worker) !== null, 'it is in the list');
        $tell = fn (WorkerOrder $order) => $this->jobs('orders')->tellWorkers($order, $entry['host'], $worker->pid);
        $tell(WorkerOrder::Stop);
        Wait::promised(static fn () => !$worker->isRunning(), 12, 'it ends');
        $this->assertSame(0, $worker->exitCode());
    }

    public function testALeaseOfTwoSecondsHoldsAJobOfSixWhileItsWorkerLives(): void
    {
        $this->transport('short')->send(new Envelope(new Work('a', 'sleep 6')));
        $this->worker('short');
        $this->worker('short');
        $this->deed('end', 'a');
        $this->until(fn () => $this->jobs('short')->count() === 0, 'it is acknowledged');
        $this->assertCount(2, $this->journal->read(), json_encode($this->journal->read()));
        $this->assertSame(0, $this->jobs('short')->stats()->timedOut);
    }

    public function testWithoutHeartbeatKeepaliveHoldsItWhereTheVersionHasThatAndElseItRunsAgain(): void
    {
        $hasKeepalive = interface_exists(\Symfony\Component\Messenger\Transport\Receiver\KeepaliveReceiverInterface::class);
        $this->transport('bare')->send(new Envelope(new Work('a', 'sleep 6')));
        $arguments = $hasKeepalive ? ['bare', '--keepalive=1'] : ['bare'];
        $this->worker(...$arguments);
        if ($hasKeepalive) {
            $this->worker(...$arguments);
            $this->deed('end', 'a');
            $this->until(fn () => $this->jobs('bare')->count() === 0, 'it is acknowledged');
            $this->assertSame(['a' => 1], $this->ended());
            $this->assertCount(2, $this->journal->read());
        } else {
            $this->deed('begin', 'a');
            $this->worker(...$arguments);
            $this->deed('begin', 'a', 2);
            $this->assertGreaterThan(0, $this->jobs('bare')->stats()->timedOut);
        }
    }

    public function testTwoWorkersHandleEachMessageOnce(): void
    {
        $transport = $this->transport();
        $this->worker('orders');
        $this->worker('orders');
        for ($n = 0; $n < 200; $n++) {
            $transport->send(new Envelope(new Work("n$n")));
        }
        $this->until(fn () => $this->jobs('orders')->count() === 0, 'all are handled');
        $this->assertCount(200, $this->ended());
        $this->assertSame([1], array_values(array_unique($this->ended())));
    }

    public function testSigtermEndsAWaitingWorkerSoonAndABusyOneAfterItsMessage(): void
    {
        $waiting = $this->waitingWorker('mails');
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a', 'wait')));
        $busy = $this->worker('orders');
        $this->deed('begin', 'a');
        $begun = microtime(true);
        $waiting->signal(SIGTERM);
        $busy->signal(SIGTERM);
        $this->assertSame(0, $waiting->exitCode(15));
        $this->assertLessThan(15.0, Machine::lasted($begun));
        $this->assertTrue($busy->isRunning());
        $this->journal->letGo('a');
        $this->assertSame(0, $busy->exitCode());
        $this->assertSame(['a' => 1], $this->ended());
        $this->assertSame(0, $this->jobs('orders')->count());
    }

    public function testSigtermEndsAWorkerThatWaitsForSeveralTransports(): void
    {
        $worker = $this->waitingWorker('orders', 'mails', 'elsewhere');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode());
    }

    public function testAWorkerWaitsForAllOfItsTransportsAtOnce(): void
    {
        $this->worker('orders', 'mails', 'short');
        foreach (['short', 'mails', 'orders', 'short'] as $n => $name) {
            $due = microtime(true) + 0.4;
            $this->transport($name)->send(new Envelope(new Work("$name-$n"), [new DelayStamp(400)]));
            $late[] = $this->deed('begin', "$name-$n")[3] - $due - Machine::stallsSince($due);
            $this->until(fn () => $this->jobs($name)->count() === 0, 'it is acknowledged');
        }
        sort($late);
        $this->assertLessThan(0.2, $late[1], json_encode($late));
    }

    public function testAWorkersFirstTransportGoesFirst(): void
    {
        foreach (['mails', 'short', 'orders'] as $name) {
            foreach ([1, 2] as $n) {
                $this->transport($name)->send(new Envelope(new Work("$name-$n")));
            }
        }
        $this->command('messenger:consume', 'orders', 'mails', 'short', '--limit=6');
        $this->assertSame(['orders-1', 'orders-2', 'mails-1', 'mails-2', 'short-1', 'short-2'], array_keys($this->ended()));
    }

    public function testTransportsOnSeveralRedisesAndOfOtherKindsAreServedInOneWorker(): void
    {
        $elsewhere = (new \DelayQueue\Symfony\Transport\TransportFactory())->createTransport(
            $this->dsn('prefix=second'),
            ['transport_name' => 'elsewhere'],
            new \Symfony\Component\Messenger\Transport\Serialization\PhpSerializer(),
        );
        $this->worker('orders', 'elsewhere', 'memory');
        $this->worker('elsewhere', 'orders', 'mails');
        for ($n = 0; $n < 10; $n++) {
            $elsewhere->send(new Envelope(new Work("far$n")));
            $this->transport('orders')->send(new Envelope(new Work("near$n")));
            $this->deed('end', "far$n");
            $this->deed('end', "near$n");
        }
        $this->assertSame([1], array_values(array_unique($this->ended())));
    }

    public function testAWorkerServesTheQueuesThatItIsTold(): void
    {
        $this->worker('orders', '--queues=fast', '--queues=slow');
        foreach (['fast', 'slow'] as $name) {
            $this->transport($name)->send(new Envelope(new Work($name)));
            $this->deed('end', $name);
        }
        $this->transport('orders')->send(new Envelope(new Work('left')));
        $this->transport('fast')->send(new Envelope(new Work('next')));
        $this->deed('end', 'next');
        $this->assertSame(1, $this->jobs('orders')->count(State::Ready));
    }

    public function testLimitsOfAWorkerHold(): void
    {
        $transport = $this->transport();
        foreach (['a', 'b', 'c'] as $name) {
            $transport->send(new Envelope(new Work($name)));
        }
        $this->command('messenger:consume', 'orders', '--limit=2');
        $this->assertSame(['a', 'b'], array_keys($this->ended()));
        $this->assertSame(1, $this->jobs('orders')->count(State::Ready));
        $begun = microtime(true);
        $this->command('messenger:consume', 'mails', '--time-limit=2');
        $this->assertLessThan(18.0, Machine::lasted($begun));
    }

    public function testABatchThatIsNotFullIsHandledWhenNothingMoreComes(): void
    {
        $transport = $this->transport();
        foreach (['a', 'b', 'c'] as $name) {
            $transport->send(new Envelope(new BatchWork($name)));
        }
        $this->worker('orders');
        $this->deed('batch-of-3', 'c', seconds: 12.0); // A round waits for 45 s.
        $this->until(fn () => $this->jobs('orders')->count() === 0, 'all are acknowledged');
        $this->assertCount(3, $this->journal->read());
    }

    public function testARetriedMessageKeepsItsIdAndRunsOnceMoreOnly(): void
    {
        $this->transport()->send(new Envelope(new Work('a', 'fail 2'), [new DelayQueueStamp('order-1')]));
        $this->worker('orders');
        $this->deed('end', 'a');
        $this->until(fn () => $this->jobs('orders')->count() === 0, 'it is acknowledged');
        $this->assertSame(['begin', 'begin', 'begin', 'end'], array_column($this->journal->read(), 0));
        $this->assertSame(1, $this->jobs('orders')->stats()->pushed);
    }

    public function testOfMessagesWithOneIdTheFirstIsKeptOrTheLastOneRuns(): void
    {
        $transport = $this->transport();
        foreach (['d', 'de', 'deb'] as $word) {
            $transport->send(new Envelope(new Work("unique-$word"), [new DelayQueueStamp('unique', onDuplicate: OnDuplicate::Keep)]));
            $transport->send(new Envelope(new Work("search-$word"), [new DelayQueueStamp('search', onDuplicate: OnDuplicate::Replace), new DelayStamp(500)]));
        }
        $this->assertSame(2, $this->jobs('orders')->count());
        $this->worker('orders');
        $this->deed('end', 'search-deb');
        $this->until(fn () => $this->jobs('orders')->count() === 0, 'all are acknowledged');
        $this->assertSame(['unique-d' => 1, 'search-deb' => 1], $this->ended());
    }

    public function testAWorkerThatIsToStopHandlesNothingThatComesLater(): void
    {
        $worker = $this->waitingWorker('orders');
        usleep(1_500_000); // longer than the worker would sleep: it is in its long wait
        $this->command('messenger:stop-workers');
        $this->transport()->send(new Envelope(new Work('new')));
        $this->assertSame(0, $worker->exitCode(20));
        $this->assertSame([], $this->journal->read());
        $this->assertSame([1, 0], [$this->jobs('orders')->count(State::Ready), $this->jobs('orders')->peekReady()->attempts]);
    }
}
