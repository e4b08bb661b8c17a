<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\GroupLimits;
use DelayQueue\RateLimited;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Symfony\Stamp\GroupStamp;
use DelayQueue\Symfony\Stamp\HeldStamp;
use DelayQueue\Symfony\Worker\NoteFailures;
use DelayQueue\Tests\Symfony\App\Work;
use RuntimeException;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsFairQueueStamp;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsFifoStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\HandledStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;

require_once __DIR__ . '/support/sqs-stamps.php';

/** The groups of messages, and what a handler may say of a limit elsewhere. */
final class GroupsTest extends MessengerTestCase
{
    public function testAMessageIsInTheGroupOfItsStampAndHasTheStampWhenItIsReceivedOrFound(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a'), [new GroupStamp('acme'), new DelayQueueStamp('a')]));
        $transport->send(new Envelope(new Work('b'), [new DelayQueueStamp('b')]));
        $this->assertSame(['acme', null], [$this->jobs('orders')->peek('a')->group, $this->jobs('orders')->peek('b')->group]);

        $this->assertEquals([new GroupStamp('acme')], $transport->find('a')->all(GroupStamp::class));
        $this->assertNull($transport->find('b')->last(GroupStamp::class));
        foreach ([1, 2] as $_) {
            [$envelope] = $transport->get();
            $expected = $envelope->getMessage()->name === 'a' ? [new GroupStamp('acme')] : [];
            $this->assertEquals($expected, $envelope->all(GroupStamp::class));
        }
    }

    public function testARetryAndAFailedMessageStayInTheGroup(): void
    {
        [$orders, $failed] = [$this->transport(), $this->transport('failed')];
        $orders->send(new Envelope(new Work('a'), [new GroupStamp('acme'), new DelayQueueStamp('a')]));
        [$envelope] = $orders->get();
        $orders->send($envelope->with(new DelayStamp(0), new RedeliveryStamp(1)));
        [$envelope] = $orders->get();
        $this->assertEquals([new GroupStamp('acme')], $envelope->all(GroupStamp::class));

        $failed->send($envelope->with(new SentToFailureTransportStamp('orders'), new DelayStamp(0), new RedeliveryStamp(0)));
        $orders->reject($envelope);
        $this->assertSame('acme', $this->jobs('failed')->peek('a')->group);
    }

    public function testTheStampsOfTheSqsTransportNameTheGroupWhereOursDoesNot(): void
    {
        $cases = [
            'ours' => [new AmazonSqsFifoStamp('fifo'), new AmazonSqsFairQueueStamp('fair'), new GroupStamp('ours')],
            'fifo' => [new AmazonSqsFairQueueStamp('fair'), new AmazonSqsFifoStamp('fifo', 'once')],
            'fair' => [new AmazonSqsFifoStamp(null, 'once'), new AmazonSqsFairQueueStamp('fair')],
            '' => [new AmazonSqsFifoStamp(null, 'once')],
        ];
        foreach ($cases as $group => $stamps) {
            $this->transport()->send(new Envelope(new Work('a'), [...$stamps, new DelayQueueStamp("id-$group")]));
            $this->assertSame($group, (string) $this->jobs('orders')->peek("id-$group")->group);
        }
    }

    public function testAGroupThatCannotBeIsATransportException(): void
    {
        $this->expectException(TransportException::class);
        $this->expectExceptionMessage('$group');
        $this->transport()->send(new Envelope(new Work('a'), [new GroupStamp("a\n")]));
    }

    public function testALimitOfAGroupHoldsForTheWorkersOfATransport(): void
    {
        $transport = $this->transport();
        $this->jobs('orders')->limitGroups(limits: new GroupLimits(concurrency: 1));
        foreach (['acme', 'acme', 'other'] as $number => $group) {
            $transport->send(new Envelope(new Work("$number"), [new GroupStamp($group)]));
        }
        $held = [...$transport->get(), ...$transport->get()];
        $this->assertSame(['0', '2'], array_map(static fn (Envelope $envelope): string => $envelope->getMessage()->name, $held));
        $this->assertSame([], $transport->get());
        $transport->ack($held[0]);
        $this->assertSame('1', $transport->get()[0]->getMessage()->name);
    }

    public function testAnOrderedGroupWaitsForTheRetryOfItsFirstMessage(): void
    {
        $transport = $this->transport();
        $this->jobs('orders')->limitGroups('acme', new GroupLimits(ordered: true));
        foreach (['first', 'second'] as $name) {
            $transport->send(new Envelope(new Work($name), [new GroupStamp('acme')]));
        }
        [$first] = $transport->get();
        $transport->send($first->with(new DelayStamp(2000), new RedeliveryStamp(1)));
        $transport->ack($first);
        $this->assertSame([], $transport->get());
        $this->travel(2);
        foreach (['first', 'second'] as $name) {
            [$envelope] = $transport->get();
            $this->assertSame($name, $envelope->getMessage()->name);
            $transport->ack($envelope);
        }
    }

    public function testAHandlerThatIsRateLimitedClosesItsGroupAndTheMessageComesAgainUncounted(): void
    {
        $this->transport()->send(new Envelope(new Work('a', 'close'), [new GroupStamp('acme'), new DelayQueueStamp('a')]));
        $this->transport()->send(new Envelope(new Work('b', 'nothing'), [new GroupStamp('other')]));
        $jobs = $this->jobs('orders');
        $due = $jobs->peek('a')->dueAt;
        $this->worker('orders');
        $this->deed('end', 'b');
        $this->until(static fn (): bool => $jobs->count() === 1 && $jobs->isPaused('acme'), 'the group is closed');
        $this->assertSame([$due, 0, 0, 1], [$jobs->peek('a')->dueAt, $jobs->peek('a')->attempts, $jobs->stats()->failed, count(array_keys(array_column($this->journal->read(), 1), 'a', true))]);
        $this->assertNull($this->transport()->find('a')->last(RedeliveryStamp::class));
        $this->assertSame(0, $this->jobs('failed')->count());
        $jobs->resume('acme');
        $this->deed('begin', 'a', 2);
    }

    public function testARateLimitUsesUpNoRetryAndIsNoneOfThem(): void
    {
        // The transport has three retries.
        $this->transport()->send(new Envelope(new Work('often', 'limit 6'), [new GroupStamp('acme')]));
        $this->transport()->send(new Envelope(new Work('last', 'last')));
        $this->worker('orders');
        $this->deed('end', 'often');
        $this->deed('end', 'last');
        $this->assertSame(0, $this->jobs('failed')->count());
        $this->until(fn (): bool => $this->jobs('orders')->stats()->acked === 2, 'both are acknowledged');
        $this->assertSame(3, $this->jobs('orders')->stats()->failed);
    }

    public function testWhatOtherHandlersHaveDoneIsKeptOverARateLimit(): void
    {
        $transport = $this->transport();
        $transport->send(new Envelope(new Work('a'), [new GroupStamp('acme'), new DelayStamp(0), new RedeliveryStamp(1)]));
        [$envelope] = $transport->get();
        $envelope = $envelope->with(new HandledStamp(null, 'other'));
        $envelope->last(HeldStamp::class)->failed(new RateLimited('1ms'));
        $transport->send($envelope->with(new DelayStamp(9_000_000), new RedeliveryStamp(2)));
        $transport->ack($envelope);
        $this->travel(1);
        [$again] = $transport->get();
        $this->assertSame(['other', 1], [$again->last(HandledStamp::class)?->getHandlerName(), RedeliveryStamp::getRetryCountFromEnvelope($again)]);
        $this->assertCount(1, $again->all(RedeliveryStamp::class));
    }

    public function testOfSeveralHandlersAFailureGoesBeforeARateLimit(): void
    {
        $transport = $this->transport();
        foreach ([[new RuntimeException('no'), false], [null, true]] as [$failure, $willRetry]) {
            $transport->send(new Envelope(new Work('a')));
            [$envelope] = $transport->get();
            $errors = array_filter([new RateLimited('1h'), $failure]);
            $event = new WorkerMessageFailedEvent($envelope, 'orders', new HandlerFailedException($envelope, $errors));
            (new NoteFailures())->onFailed($event);
            $this->assertSame([$failure ?? $errors[0], $willRetry], [$envelope->last(HeldStamp::class)->failure(), $event->willRetry()]);
        }
    }

    public function testARetryByHandThatIsRateLimitedFailsAsEver(): void
    {
        $this->transport('failed')->send(new Envelope(new Work('a', 'close'), [new DelayQueueStamp('a'), new SentToFailureTransportStamp('orders')]));
        $this->command('messenger:failed:retry', '--force');
        $this->assertSame([1, false], [count($this->journal->read()), $this->jobs('failed')->isPaused()]);
        $this->assertSame(1, RedeliveryStamp::getRetryCountFromEnvelope($this->transport('failed')->find('a')));
    }
}
