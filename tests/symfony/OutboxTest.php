<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\OnDuplicate;
use DelayQueue\State;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Symfony\App\ShopWork;
use RuntimeException;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;

/** The option outbox of a transport. */
final class OutboxTest extends DatabaseMessengerTestCase
{
    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testACommittedMessageIsThereAtOnceAndOnce(string $database): void
    {
        $this->useDatabase($database);
        $id = $this->database()->transactional(function (): string {
            $this->database()->insert('effects', ['name' => 'order']);
            $sent = $this->bus()->dispatch(new ShopWork('a'), [new DelayStamp(60_000), new DelayQueueStamp('order-1', priority: 7, ttr: '90s', expires: '1h')]);
            $this->assertNull($this->jobs('shop')->peek('order-1'), 'before the commit');

            return $sent->last(TransportMessageIdStamp::class)->getId();
        });

        $job = $this->jobs('shop')->peek('order-1');
        $this->assertSame(['order-1', State::Delayed, 7, 90.0], [$id, $job->state, $job->priority, $job->ttr]);
        $this->assertEqualsWithDelta(60.0, $job->dueAt - $this->jobs('shop')->now(), 5.0);
        $this->assertEqualsWithDelta(3600.0, $job->expiresAt - $job->dueAt, 0.1);
        $this->relay();
        $this->assertSame([1, 0], [$this->jobs('shop')->count(), $this->rows()]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAMessageOfATransactionThatIsRolledBackNeverComes(string $database): void
    {
        $this->useDatabase($database);
        try {
            $this->database()->transactional(function (): void {
                $this->bus()->dispatch(new ShopWork('a'));
                throw new RuntimeException('no');
            });
        } catch (RuntimeException) {
        }
        $this->database()->transactional(fn () => $this->bus()->dispatch(new ShopWork('b'), [new DelayQueueStamp('b')]));
        $this->relay();
        $this->assertSame([1, 0], [$this->jobs('shop')->count(), $this->rows()]);
        $this->assertPushed('b', 'shop');
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAMessageWhoseSenderDiesBetweenCommitAndFlushIsBroughtByTheRelayOnce(string $database): void
    {
        $this->useDatabase($database);
        $this->dieAtCommit('a');
        $this->assertSame([1, 1, 0], [$this->rows('effects'), $this->rows(), $this->jobs('shop')->count()]);

        $this->relay();
        $this->relay();
        $this->assertSame([1, 0], [$this->jobs('shop')->count(), $this->rows()]);
    }

    public function testOnlyTheOutermostCommitSendsAndARolledBackSavepointTakesItsMessageAlong(): void
    {
        $this->useDatabase('sqlite');
        $database = $this->database();
        method_exists($database, 'setNestTransactionsWithSavepoints') && @$database->setNestTransactionsWithSavepoints(true);
        $database->beginTransaction();
        $this->bus()->dispatch(new ShopWork('outer'));
        $database->transactional(fn () => $this->bus()->dispatch(new ShopWork('inner')));
        try {
            $database->transactional(function (): void {
                $this->bus()->dispatch(new ShopWork('undone'));
                throw new RuntimeException('no');
            });
        } catch (RuntimeException) {
        }
        $this->assertSame(0, $this->jobs('shop')->count());
        $database->commit();
        $this->assertSame(['outer', 'inner'], $this->names());
        $this->relay();
        $this->assertSame([2, 0], [$this->jobs('shop')->count(), $this->rows()]);
    }

    public function testOutsideOfATransactionAMessageNeedsNoRow(): void
    {
        $this->useDatabase('sqlite');
        $sent = $this->bus()->dispatch(new ShopWork('a'));
        $this->assertPushed($sent->last(TransportMessageIdStamp::class)->getId(), 'shop');
        $this->assertSame(0, $this->rows());
    }

    public function testWhileRedisIsAwayADispatchSucceedsAndArrivesOnce(): void
    {
        $this->useDatabase('sqlite');
        $transport = $this->shop($this->awayDsn());
        $before = microtime(true);
        $transport->send(new Envelope(new ShopWork('a'), [new DelayQueueStamp('a')]));
        $this->assertLessThan(3.0, Machine::lasted($before));
        $this->database()->transactional(fn () => $transport->send(new Envelope(new ShopWork('b'), [new DelayStamp(-1000)])));
        $this->assertSame(2, $this->rows());

        $this->relay();
        $this->relay();
        $this->assertSame([2, 0], [$this->jobs('shop')->count(State::Ready), $this->rows()]);
        $this->assertPushed('a', 'shop');
    }

    public function testWhileRedisIsAwayACancellationSucceedsAndHolds(): void
    {
        $this->useDatabase('sqlite');
        $this->bus()->dispatch(new ShopWork('a'), [new DelayQueueStamp('a')]);
        $away = $this->shop($this->awayDsn());
        $away->send(new Envelope(new ShopWork('b'), [new DelayQueueStamp('b')]));
        foreach (['a', 'b'] as $id) {
            $this->assertTrue($away->outbox()->cancel($id));
        }
        $this->relay();
        $this->assertSame([0, 0], [$this->jobs('shop')->count(), $this->rows()]);
    }

    public function testADuplicateIsKeptOrReplacedWhateverTheStampSays(): void
    {
        $this->useDatabase('sqlite');
        $send = fn (string $name, OnDuplicate $on) => $this->bus()->dispatch(new ShopWork($name), [new DelayQueueStamp('x', onDuplicate: $on)]);
        $inTransaction = fn (string $name, OnDuplicate $on) => $this->database()->transactional(static fn () => $send($name, $on));
        $inTransaction('first', OnDuplicate::Fail);
        $inTransaction('second', OnDuplicate::Fail);
        $send('third', OnDuplicate::Fail);
        $this->assertSame(['first'], $this->names());
        $inTransaction('fourth', OnDuplicate::Replace);
        $this->assertSame(['fourth'], $this->names());
    }

    public function testARowReservesNoIdAndSaysSo(): void
    {
        $this->useDatabase('sqlite');
        $send = fn () => $this->bus()->dispatch(new ShopWork('a'), [new DelayQueueStamp('x', unique: '10m', onDuplicate: OnDuplicate::Keep)]);
        $send();
        $this->assertPushed('x', 'shop');
        $this->expectException(TransportException::class);
        $this->expectExceptionMessageMatches('/"unique".*must be null: the row itself arrives once/');
        $this->database()->transactional($send);
    }

    public function testACancellationWaitsForTheCommitAndFindsTheRowToo(): void
    {
        $this->useDatabase('sqlite');
        $canceller = $this->service('test.canceller');
        $this->bus()->dispatch(new ShopWork('a'), [new DelayQueueStamp('a'), new DelayStamp(60_000)]);
        $this->database()->beginTransaction();
        $this->assertTrue($canceller->cancel('a', 'shop'));
        $this->assertNotNull($canceller->find('a', 'shop'));
        $this->database()->commit();
        $this->assertNull($canceller->find('a', 'shop'));
        $this->assertFalse($canceller->cancel('a', 'shop'));

        $this->dieAtCommit('b');
        $this->other()->executeStatement("update delayqueue_outbox set job = 'b'");
        $this->assertTrue($canceller->cancel('b', 'shop'));
        $this->relay();
        $this->assertSame([0, 0], [$this->jobs('shop')->count(), $this->rows()]);
    }

    public function testTheTablesAreMadeBySetupAndTheirAbsenceIsToldWithItsCure(): void
    {
        $this->useDatabase('sqlite');
        foreach (['delayqueue_outbox', 'delayqueue_source'] as $table) {
            $this->other()->executeStatement("drop table $table");
        }
        foreach ([fn () => $this->bus()->dispatch(new ShopWork('a')), fn () => $this->database()->transactional(fn () => $this->bus()->dispatch(new ShopWork('a')))] as $dispatch) {
            try {
                $dispatch();
                $this->fail('nothing was thrown');
            } catch (TransportException $error) {
                $this->assertStringContainsString('outbox:install', $error->getMessage());
            }
        }
        $this->command('messenger:setup-transports', 'shop');
        $this->bus()->dispatch(new ShopWork('a'));
        $this->assertSame(1, $this->jobs('shop')->count());
    }

    public function testAnOutboxWithoutItsConnectionOrItsMiddlewareIsRefused(): void
    {
        $this->useDatabase('sqlite');
        $attempts = [
            'there is no DBAL connection "nowhere"' => fn () => $this->shop($this->dsn(), ['outbox' => 'nowhere']),
            'must be a name' => fn () => $this->shop($this->dsn(), ['outbox' => true]),
            'outbox' => fn () => $this->shop($this->dsn('outbox=default')),
            'FlushMiddleware' => fn () => $this->shop($this->dsn(), ['outbox' => 'bare'])->send(new Envelope(new ShopWork('a'))),
        ];
        foreach ($attempts as $expected => $attempt) {
            try {
                $attempt();
                $this->fail("nothing was thrown for $expected");
            } catch (InvalidArgumentException $error) {
                $this->assertStringContainsString($expected, $error->getMessage());
            }
        }
    }

    /** Of a Redis that has ended. */
    private function awayDsn(): string
    {
        $redis = RedisServer::start();
        $redis->stop();

        return 'delayqueue' . substr($redis->dsn(), strlen('redis'));
    }

    /** @return list<string> the messages that wait, in order */
    private function names(): array
    {
        return array_map(static fn (Envelope $one): string => $one->getMessage()->name, self::received($this->appTransport('shop')->all()));
    }
}
