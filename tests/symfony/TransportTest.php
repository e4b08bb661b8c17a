<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\InvalidArgument;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Symfony\Stamp\HeldStamp;
use DelayQueue\Symfony\Transport\Transport;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Symfony\Worker\SharedWait;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Symfony\App\Work;
use Error;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Receiver\KeepaliveReceiverInterface;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

final class TransportTest extends MessengerTestCase
{
    public function testAMessageThatIsSentIsReceivedAndGoneWhenAcknowledged(): void
    {
        $transport = $this->transport();
        $sent = $transport->send(new Envelope(new Work('a')));
        [$envelope] = $transport->get();

        $this->assertEquals(new Work('a'), $envelope->getMessage());
        $this->assertSame($sent->last(TransportMessageIdStamp::class)->getId(), $envelope->last(TransportMessageIdStamp::class)->getId());
        $this->assertCount(1, $envelope->all(TransportMessageIdStamp::class));
        $this->assertSame([], $transport->get());
        $transport->ack($envelope);
        $this->assertQueueEmpty('orders');
    }

    public function testARejectedMessageIsGone(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a')));
        $transport->reject($transport->get()[0]);
        $this->assertQueueEmpty('orders');
    }

    public function testARejectedMessageIsBuriedWhereTheTransportSaysSo(): void
    {
        $transport = $this->transport(options: ['bury_on_reject' => true]);
        $transport->send(new Envelope(new Work('a')));
        $transport->reject($transport->get()[0]);
        $this->assertBuried(null, 'orders', 'rejected');
    }

    public function testADelayHoldsToTheMillisecond(): void
    {
        $transport = $this->transport();
        $before = microtime(true);
        $transport->send(new Envelope(new Work('a'), [new DelayStamp(1501)]));
        $after = microtime(true);
        $due = $this->jobs('orders')->list(State::Delayed)[0]->dueAt;

        $this->assertGreaterThanOrEqual($before + 1.501, $due);
        $this->assertLessThanOrEqual($after + 1.502, $due);
        $this->assertSame([], $transport->get());
        $this->travel('1501ms');
        $this->assertCount(1, $transport->get());
    }

    public function testAnEarlierMomentOfThePastComesFirst(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('later'), [new DelayStamp(-1000)]));
        $transport->send(new Envelope(new Work('earlier'), [new DelayStamp(-5000)]));
        $this->assertSame('earlier', $transport->get()[0]->getMessage()->name);
    }

    public function testAStampGivesIdPriorityAndTtr(): void
    {
        $transport = $this->transport();
        $sent = $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp('order-1', priority: 7, ttr: '90s')]));
        $job = $this->jobs('orders')->peek('order-1');

        $this->assertSame('order-1', $sent->last(TransportMessageIdStamp::class)->getId());
        $this->assertSame([7, 90.0], [$job->priority, $job->ttr]);
        $this->assertNull($transport->get()[0]->last(DelayQueueStamp::class));
    }

    public function testAStampTakesWhatANewJobHas(): void
    {
        $transport = $this->transport();
        $options = ['id' => 'order-1', 'headers' => ['tenant' => 'acme'], 'group' => 'eu', 'timeout' => 5, 'maxAttempts' => 3];
        $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp(...$options)]));
        $job = $this->jobs('orders')->peek('order-1');
        $this->assertSame([['tenant' => 'acme'], 'eu', 5.0, 3], [$job->headers, $job->group, $job->timeout, $job->maxAttempts]);
        foreach ([['payload' => 1], ['delay' => 1], ['prioriy' => 1], ['a', 7]] as $wrong) {
            try {
                new DelayQueueStamp(...$wrong);
                $this->fail(json_encode($wrong));
            } catch (Error $error) {
                $this->assertMatchesRegularExpression('/^Unknown named parameter|takes all but the id by their names$/', $error->getMessage());
            }
        }
        $this->expectExceptionMessage('must be between 0.1 seconds and 30 days');
        $this->expectException(InvalidArgument::class);
        new DelayQueueStamp(ttr: '40d');
    }

    public function testTheHeadersOfOthersSurviveARetry(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp('order-1', headers: ['tenant' => 'acme'])]));
        [$envelope] = $transport->get();
        $held = $envelope->last(HeldStamp::class)->job;
        $held->update(headers: ['written-by' => 'another library']);
        $transport->send($envelope->with(new DelayStamp(2000), new RedeliveryStamp(1)));
        $this->assertEquals(['tenant' => 'acme', 'written-by' => 'another library'], $this->jobs('orders')->peek('order-1')->headers);
    }

    public function testADuplicateIsRefusedKeptOrReplaced(): void
    {
        $transport = $this->transport();
        $send = static fn (string $name, OnDuplicate $on) => $transport->send(new Envelope(new Work($name), [new DelayQueueStamp('x', onDuplicate: $on)]));
        $send('first', OnDuplicate::Fail);
        $send('second', OnDuplicate::Keep);
        $this->assertSame('first', $transport->find('x')->getMessage()->name);
        $send('third', OnDuplicate::Replace);
        $this->assertSame('third', $transport->find('x')->getMessage()->name);
        $this->expectException(TransportException::class);
        $send('fourth', OnDuplicate::Fail);
    }

    public function testAnIdStaysTakenAMessageExpiresAndADebounceRuns(): void
    {
        $transport = $this->transport();
        $send = static fn (string $name, DelayQueueStamp $wish) => $transport->send(new Envelope(new Work($name), [$wish, new DelayStamp(60_000)]));
        $send('once', new DelayQueueStamp('x', onDuplicate: OnDuplicate::Keep, unique: '10m', expires: '1h'));
        $job = $this->jobs('orders')->peek('x');
        $this->assertEqualsWithDelta($job->dueAt + 3600, $job->expiresAt, 0.001);
        $this->jobs('orders')->cancel('x');
        $send('again', new DelayQueueStamp('x', onDuplicate: OnDuplicate::Keep, unique: '10m'));
        $this->assertCount(0, $this->jobs('orders'));
        $send('search', new DelayQueueStamp('y', onDuplicate: OnDuplicate::Replace, maxWait: 5));
        $this->assertLessThanOrEqual(5.0, $this->jobs('orders')->peek('y')->dueAt - $this->jobs('orders')->now());
    }

    public function testARetryIsTheSameJobUnderItsIdAndNothingIsDoubled(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp('order-1', priority: 3, ttr: 40)]));
        for ($retry = 1; $retry <= 3; $retry++) {
            [$envelope] = $transport->get();
            $this->assertSame($retry - 1, RedeliveryStamp::getRetryCountFromEnvelope($envelope));
            // In Messenger's order: it sends, then it rejects (before 7.4) or acknowledges.
            $sent = $transport->send($envelope->with(new DelayStamp(2000), new RedeliveryStamp($retry)));
            $this->assertSame('order-1', $sent->last(TransportMessageIdStamp::class)->getId());
            $retry % 2 ? $transport->reject($envelope) : $transport->ack($envelope);

            $this->assertSame(1, $this->jobs('orders')->count());
            $job = $this->jobs('orders')->peek('order-1');
            $this->assertSame([State::Delayed, 3, 40.0, 0], [$job->state, $job->priority, $job->ttr, $job->attempts]);
            $this->travel(2);
        }
        $transport->ack($transport->get()[0]);
        $this->assertQueueEmpty('orders');
    }

    public function testARetryAfterACancelLeavesNothing(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp('order-1')]));
        [$envelope] = $transport->get();
        $this->jobs('orders')->cancel('order-1');
        $transport->send($envelope->with(new DelayStamp(0), new RedeliveryStamp(1)));
        $transport->reject($envelope);
        $this->assertQueueEmpty('orders');
    }

    public function testAMessageThatWasFoundIsRetriedInPlaceAndRemovedWhenAcknowledged(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp('one')]));
        $found = $transport->find('one');
        $transport->send($found->with(new DelayStamp(1000), new RedeliveryStamp(1)));
        $transport->reject($found);
        $again = $transport->find('one');
        $this->assertSame(1, RedeliveryStamp::getRetryCountFromEnvelope($again));
        $this->assertSame(1, $this->jobs('orders')->count());
        $transport->ack($again);
        $this->assertQueueEmpty('orders');
    }

    public function testAFailedMessageKeepsItsIdAndIsOneThoughItsWorkerDiedInBetween(): void
    {
        [$orders, $failed] = [$this->transport(), $this->transport('failed')];
        $orders->send(new Envelope(new Work('a'), [new DelayQueueStamp('order-1')]));
        [$envelope] = $orders->get();
        $gone = $envelope->with(new SentToFailureTransportStamp('orders'), new DelayStamp(0), new RedeliveryStamp(0));
        $failed->send($gone);
        $failed->send($gone);
        $this->assertSame(1, $this->jobs('failed')->count());
        $this->assertPushed('order-1', 'failed');
        $orders->reject($envelope);
        // A later message of the same id that fails does not take the first one's place. The two are told apart by the milliseconds of their pushes.
        usleep(2_000);
        $orders->send(new Envelope(new Work('b'), [new DelayQueueStamp('order-1')]));
        [$other] = $orders->get();
        $failed->send($other->with(new SentToFailureTransportStamp('orders'), new RedeliveryStamp(0)));
        $this->assertSame(['a', 'b'], array_map(static fn (Envelope $one) => $one->getMessage()->name, self::received($failed->all())));
    }

    public function testALateAcknowledgementChangesNothing(): void
    {
        $transport = $this->transport(options: ['ttr' => 0.1, 'heartbeat' => false]);
        $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp('one')]));
        [$late] = $transport->get();
        $again = $this->until(static fn () => $transport->get()[0] ?? null, 'the lease ends');
        $transport->ack($late);
        $this->assertReserved('one', 'orders');
        $transport->ack($again);
        $this->assertQueueEmpty('orders');
    }

    public function testKeepaliveHoldsTheMessageForTwiceItsInterval(): void
    {
        $transport = $this->transport(options: ['ttr' => 1, 'heartbeat' => false]);
        $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp('one')]));
        [$envelope] = $transport->get();
        $transport->keepalive($envelope, 5);
        $this->assertEqualsWithDelta(10.0, $this->jobs('orders')->peek('one')->leaseUntil - microtime(true), 4.0);
        $this->assertSame(interface_exists(KeepaliveReceiverInterface::class), $transport instanceof KeepaliveReceiverInterface);
    }

    public function testMessagesThatAreRemovedWhileTheyAreListedHideNoOthers(): void
    {
        $transport = $this->transport();
        for ($n = 0; $n < 250; ++$n) {
            $transport->send(new Envelope(new Work("work $n")));
        }
        $listed = 0;
        foreach ($transport->all() as $envelope) {
            ++$listed;
            $transport->reject($envelope);
        }
        $this->assertSame(250, $listed);
    }

    public function testItCountsAndListsWhatIsDue(): void
    {
        $transport = $this->transport();
        foreach (['a', 'b', 'c', 'd'] as $name) {
            $transport->send(new Envelope(new Work($name), $name === 'd' ? [new DelayStamp(60_000)] : []));
        }
        $transport->get();
        $this->assertSame(2, $transport->getMessageCount());
        $names = static fn (iterable $all) => array_map(static fn (Envelope $one) => $one->getMessage()->name, self::received($all));
        $this->assertSame(['b', 'c'], $names($transport->all()));
        $this->assertSame(['b'], $names($transport->all(1)));
        $this->assertNull($transport->find('nothing'));
    }

    public function testWhatAWorkerHasIsNotFoundASecondTime(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a'), [new DelayQueueStamp('one')]));
        $held = $transport->get();
        $this->assertNull($transport->find('one'));
        $transport->ack($held[0]);
    }

    public function testItTakesSeveralAtOnceAndGivesBackWhatNobodyAskedFor(): void
    {
        $transport = $this->transport();
        foreach (['a', 'b', 'c', 'd'] as $name) {
            $transport->send(new Envelope(new Work($name)));
        }
        $seen = [];
        foreach ($transport->get(3) as $envelope) {
            $seen[] = $envelope->getMessage()->name;
            $transport->ack($envelope);
            if (count($seen) === 2) {
                break;
            }
        }
        unset($envelope);
        $this->assertSame(['a', 'b'], $seen);
        $this->assertSame([2, 2], [$this->jobs('orders')->count(), $transport->getMessageCount()]);
        $this->assertSame(0, $this->jobs('orders')->peekReady()->attempts);
    }

    public function testASignalJustBeforeAWaitEndsIt(): void
    {
        $transport = $this->transport();
        $wait = new SharedWait([$transport->receiver()], [], 30.0);
        $transport->receiver()->waitWith($wait);
        $wait->stop();
        $begun = microtime(true);
        $this->assertSame([], $transport->get());
        $this->assertLessThan(15.0, Machine::lasted($begun));

        $transport->send(new Envelope(new Work('a')));
        $this->assertCount(1, $transport->get());
    }

    public function testItServesOtherQueuesWhenTold(): void
    {
        $this->transport('fast')->send(new Envelope(new Work('fast')));
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('slow')));
        foreach (['fast', 'slow'] as $name) {
            [$envelope] = $transport->getFromQueues(['fast', 'orders']);
            $this->assertSame($name, $envelope->getMessage()->name);
            $transport->ack($envelope);
        }
        $this->assertQueueEmpty('fast');
    }

    public function testApplicationsWithAPrefixOfTheirOwnShareNoMessage(): void
    {
        $of = fn (string $query): Transport => (new TransportFactory())->createTransport($this->dsn($query), ['transport_name' => 'orders'], new PhpSerializer());
        $of('prefix=shop')->send(new Envelope(new Work('a')));
        $this->assertSame([0, 0, 1], array_map(static fn (string $query): int => count([...$of($query)->get()]), ['prefix=blog', '', 'prefix=shop']));
    }

    public function testErrorsOfTheServerAreTransportExceptions(): void
    {
        $transport = (new \DelayQueue\Symfony\Transport\TransportFactory())
            ->createTransport('delayqueue+unix:///nonexistent/redis.sock?db=0', ['transport_name' => 'orders'], new PhpSerializer());
        $this->expectException(TransportException::class);
        $transport->get();
    }

    public function testSetupAsksTheServerAndCloseMayBeFollowedByMore(): void
    {
        $transport = $this->transport();
        $transport->setup();
        $transport->close();
        $this->assertSame(0, $transport->getMessageCount());
    }
}
