<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\State;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;

/** messenger:failed:* on a failure transport of ours. */
final class FailureTransportTest extends MessengerTestCase
{
    public function testAMessageThatFailsTooOftenIsShownRetriedAndDone(): void
    {
        $this->failed('order-1', 'fail 4');
        $list = $this->command('messenger:failed:show');
        $this->assertStringContainsString('order-1', $list);
        $this->assertStringContainsString('order-1 failed', $list);
        $this->assertStringContainsString('Work', $this->command('messenger:failed:show', 'order-1'));

        $this->command('messenger:failed:retry', 'order-1', '--force');
        $this->deed('end', 'order-1');
        $this->assertSame(0, $this->jobs('failed')->count());
    }

    public function testAMessageThatFailsInItsRetryStaysOneUnderItsId(): void
    {
        $this->failed('order-1', 'fail');
        $this->command('messenger:failed:retry', 'order-1', '--force');
        $this->assertSame(5, count($this->journal->read()));
        $this->assertSame(1, $this->jobs('failed')->count());
        $this->assertPushed('order-1', 'failed');
    }

    public function testAllFailedMessagesAreTriedOnceByOneRetryAndWaitForTheNext(): void
    {
        $this->failed('order-1', 'fail');
        $this->failed('order-2', 'fail');
        $this->command('messenger:failed:retry', '--force');
        $this->assertSame(['order-1' => 5, 'order-2' => 5], array_count_values(array_column($this->journal->read(), 1)));
        $this->assertSame(2, $this->jobs('failed')->count(State::Delayed));

        $list = $this->command('messenger:failed:show');
        $this->assertStringContainsString('There are 0 messages', $list);
        $this->assertStringNotContainsString('order-1', $list);
        $this->assertStringContainsString('order-1', $this->command('messenger:failed:show', 'order-1'));
    }

    public function testAFailedMessageIsRemoved(): void
    {
        $this->failed('order-1', 'fail');
        $this->command('messenger:failed:remove', 'order-1', '--force');
        $this->assertSame(0, $this->jobs('failed')->count());
    }

    public function testAWorkerOfTheFailureTransportTriesAgain(): void
    {
        $this->failed('order-1', 'fail 5');
        $this->worker('failed');
        $this->until(fn () => $this->jobs('failed')->count(State::Delayed) === 1, 'its next retry is delayed');
        $this->jobs('failed')->reschedule('order-1', 0);
        $this->deed('end', 'order-1');
        $this->until(fn () => $this->jobs('failed')->count() === 0, 'it is acknowledged');
        $this->assertSame(1, $this->jobs('failed')->stats()->pushed);
    }

    public function testARejectedMessageOfATransportThatBuriesIsInBothPlaces(): void
    {
        $this->failed('order-1', 'fail', 'buries');
        $this->until(fn () => $this->jobs('buries')->count(State::Buried) === 1, 'it is buried');
        $this->assertPushed('order-1', 'failed');
    }

    public function testAMessageThatCannotBeDecodedGoesTheWayOfTheVersion(): void
    {
        $this->jobs('orders')->push('{"body":"O:8:\"Nowhere\":0:{}","headers":[]}', id: 'bad');
        $worker = $this->start('messenger:consume', 'orders');
        if (method_exists(MessageDecodingFailedException::class, 'wrap')) {
            $this->assertNotNull($this->until(fn () => $this->jobs('failed')->peek('bad'), 'it fails'));
        } else {
            $this->assertNotSame(0, $worker->exitCode(30));
            $this->assertBuried('bad', 'orders');
        }
    }

    private function failed(string $id, string $do, string $from = 'orders'): void
    {
        $this->transport($from)->send(new Envelope(new Work($id, $do), [new DelayQueueStamp($id)]));
        $worker = $this->worker($from);
        $this->deed('begin', $id, 4);
        $this->until(fn () => $this->jobs('failed')->peek($id), 'it is in the failure transport');
        $this->until(fn () => $this->jobs($from)->count(State::Reserved) === 0, 'it has left its own');
        $worker->kill();
    }
}
