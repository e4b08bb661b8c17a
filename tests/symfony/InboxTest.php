<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Symfony\Database\InboxMiddleware;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Tests\Symfony\App\ShopWork;
use Doctrine\DBAL\Connection;
use LogicException;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Middleware\StackMiddleware;
use Symfony\Component\Messenger\Stamp\AckStamp;
use Symfony\Component\Messenger\Stamp\HandledStamp;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;

/** The middleware delayqueue_inbox. */
final class InboxTest extends DatabaseMessengerTestCase
{
    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAMessageThatComesAgainAfterItsWorkerDiedBeforeTheAcknowledgementHasOneEffect(string $database): void
    {
        $this->useDatabase($database);
        touch($this->file('accident'));
        $this->bus()->dispatch(new ShopWork('a', 'row dispatch'));
        $worker = $this->worker('shop', '--limit=1');
        $this->assertSame(SIGKILL, $worker->endedBy(60), $worker->errors());
        $this->assertSame(1, $this->rows('effects'));

        $this->worker('shop');
        $this->until(fn (): bool => $this->jobs('shop')->count() === 0, 'all are settled');
        $this->assertSame(['a' => 1, 'a-next' => 1], array_count_values($this->effects()));
        $this->assertSame(['a' => 1, 'a-next' => 1], $this->ended());
    }

    public function testAHandlerThatThrowsIsRolledBackAndRunsAgain(): void
    {
        $this->useDatabase('sqlite');
        foreach (['row fail', 'entity fail'] as $do) {
            $envelope = $this->receive(new ShopWork('a', $do));
            try {
                $this->bus()->dispatch($envelope);
                $this->fail('nothing was thrown');
            } catch (HandlerFailedException $error) {
                $this->assertSame([], $error->getEnvelope()->all(HandledStamp::class));
                $this->assertStringContainsString('a failed', $error->getMessage());
            }
            $this->assertFalse($this->database()->isTransactionActive());
            $this->service('doctrine')->getManager()->flush();
            $this->assertSame([], $this->effects());
        }
        // Nothing noted that this delivery was done, so it may be handled again.
        $envelope = $this->receive(new ShopWork('b'));
        $this->bus()->dispatch($envelope);
        $this->bus()->dispatch($envelope);
        $this->assertSame(['b'], $this->effects());
    }

    public function testAHandlerThatLeavesATransactionOpenIsRolledBack(): void
    {
        $this->useDatabase('sqlite');
        $envelope = $this->receive(new ShopWork('a', 'row begin'));
        try {
            $this->bus()->dispatch($envelope);
            $this->fail('nothing was thrown');
        } catch (LogicException $error) {
            $this->assertStringContainsString('not ended', $error->getMessage());
        }
        $this->assertFalse($this->database()->isTransactionActive());
        $this->assertSame([0, 0], [$this->rows('effects'), $this->rows('delayqueue_jobs')]);
    }

    public function testWhatAnEntityManagerHoldsIsStoredWithIt(): void
    {
        $this->useDatabase('sqlite');
        $this->bus()->dispatch($this->receive(new ShopWork('a', 'entity')));
        $this->assertSame(['a'], $this->effects());
    }

    public function testANewMessageOfAnOldIdIsAnotherOne(): void
    {
        $this->useDatabase('sqlite');
        foreach (['first', 'second'] as $name) {
            usleep(2_000);
            $envelope = $this->receive(new ShopWork($name), 'order-1');
            $this->bus()->dispatch($envelope);
            $this->appTransport('shop')->ack($envelope);
        }
        $this->assertSame(['first', 'second'], $this->effects());
    }

    public function testAMessageThatIsRetriedFromTheFailureTransportRunsInATransactionToo(): void
    {
        $this->useDatabase('sqlite');
        $transport = $this->appTransport('shop');
        $transport->send(new Envelope(new ShopWork('a', 'row fail'), [new DelayQueueStamp('a')]));
        $found = $transport->find('a')->with(new ReceivedStamp('shop'));
        try {
            $this->bus()->dispatch($found);
            $this->fail('nothing was thrown');
        } catch (HandlerFailedException) {
        }
        $this->assertSame([], $this->effects());
    }

    public function testABatchHandlerWorksBeforeTheCommit(): void
    {
        $this->useDatabase('sqlite');
        $handled = (new InboxMiddleware($this->database()))->handle(
            $this->receive(new ShopWork('a'))->with(new AckStamp(static fn () => null)),
            new StackMiddleware(new class ($this->database()) implements MiddlewareInterface {
                public function __construct(private readonly Connection $database)
                {
                }

                public function handle(Envelope $envelope, StackInterface $stack): Envelope
                {
                    TestCase::assertTrue($this->database->isTransactionActive());
                    TestCase::assertNull($envelope->last(AckStamp::class), 'Messenger would let it wait for its batch');

                    return $envelope->with(new HandledStamp(null, 'handler'));
                }
            }),
        );
        $this->assertCount(1, $handled->all(HandledStamp::class));
    }

    public function testItRefusesToBeInsideOfAnotherTransaction(): void
    {
        $this->useDatabase('sqlite');
        $envelope = $this->receive(new ShopWork('a'));
        $this->database()->beginTransaction();
        $this->expectException(LogicException::class);
        $this->bus()->dispatch($envelope);
    }

    /** As a worker has it. */
    private function receive(ShopWork $work, ?string $id = null): Envelope
    {
        $this->appTransport('shop')->send(new Envelope($work, [new DelayQueueStamp($id)]));

        return self::received($this->appTransport('shop')->get())[0]->with(new ReceivedStamp('shop'));
    }

    /** @return list<string> */
    private function effects(): array
    {
        return $this->other()->fetchFirstColumn('select name from effects order by id');
    }
}
