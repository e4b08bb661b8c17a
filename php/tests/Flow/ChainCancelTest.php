<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use ArrayObject;
use DelayQueue\Bury;
use DelayQueue\Flow\Chain;
use DelayQueue\Flow\ChainStep;
use DelayQueue\QueueInterface;

/** Cancelling chains. */
final class ChainCancelTest extends ChainCase
{
    public function testCancelRemovesTheWaitingLinkAndThoseToCome(): void
    {
        $this->chain('c', [], ['delay' => '1h', 'queue' => 'other'], [], [])->onFailure(['payload' => 'failed'])->push($this->queue());
        $this->chain('d', ['delay' => '1h'], [])->push($this->queue());
        $this->work();

        $this->assertSame(3, Chain::cancel($this->queue('any'), 'c'));
        $this->assertSame(0, $this->queue('other')->count());
        $this->assertSame(['d'], [...Chain::ids($this->queue())], 'another chain is left alone');
        $this->assertSame(0, Chain::cancel($this->queue(), 'c'));
        $this->assertSame(2, Chain::cancel($this->queue(), 'd'));
        $this->assertSame(0, $this->queue()->count());
        $this->assertNoChains();
    }

    public function testCancelRemovesABuriedLink(): void
    {
        $this->chain('c', [], [])->push($this->queue());
        $this->work(static fn () => throw new Bury('no'));

        $this->assertSame(2, Chain::cancel($this->queue(), 'c'));
        $this->assertSame(0, $this->queue()->count());
        $this->assertNoChains();
    }

    public function testALinkThatRunsEndsAndNothingFollowsIt(): void
    {
        $cancelled = null;
        $this->chain('c', [], [], [])->push($this->queue());
        $ran = $this->work(static function ($job, QueueInterface $queue) use (&$cancelled): void {
            $cancelled = Chain::cancel($queue, 'c');
        });

        $this->assertSame([2, ['c']], [$cancelled, $ran]);
        $this->assertSame(1, $this->queue()->stats()->acked);
        $this->assertNoChains();
    }

    public function testTheLastLinkIsCancelledWhileItWaits(): void
    {
        $this->chain('c', [], ['delay' => '1h'])->push($this->queue());
        $this->work();

        $this->assertSame(1, Chain::cancel($this->queue(), 'c'));
        $this->assertSame(0, $this->queue()->count());
        $this->assertNoChains();
    }

    public function testALinkThatWasPushedWhileItsChainWasCancelledIsTakenBack(): void
    {
        $this->chain('c', [], [])->push($this->queue());
        $job = $this->queue()->reserve();
        $copy = $this->queue('chains', ['format' => 'raw'])->peek('c/2');
        $calls = new ArrayObject();
        // All queues in one. Somebody else cancels the copy when it has been looked at.
        $queue = $this->createStub(QueueInterface::class);
        $queue->method('sibling')->willReturnSelf();
        $queue->method('peek')->willReturn($copy);
        $queue->method('pushMany')->willReturnCallback(static function (array $jobs) use ($calls): array {
            $calls[] = ['push', $jobs[0]['id']];

            return [$jobs[0]['id']];
        });
        $queue->method('cancel')->willReturnCallback(static function (string ...$ids) use ($calls): int {
            $calls[] = ['cancel', ...$ids];

            return 0;
        });

        (new ChainStep($this->mark('c', '1/2'), 'c'))->succeeded($job, $queue, null);
        $this->assertSame([['push', 'c/2'], ['cancel', 'c/2', 'c/1'], ['cancel', 'c/2']], $calls->getArrayCopy());
    }

    public function testAChainThatNobodyKnowsIsNotThere(): void
    {
        $this->assertSame(0, Chain::cancel($this->queue(), 'nobody'));
        $this->assertNull(Chain::status($this->queue(), 'nobody'));
        $this->assertNull(Chain::check($this->queue(), 'nobody'));
        $this->assertSame([], [...Chain::ids($this->queue())]);
    }
}
