<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;
use DelayQueue\NewJob;
use DelayQueue\Tests\Database\Support\OutboxTestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/** Jobs that are cancelled with a transaction. */
final class OutboxCancelTest extends OutboxTestCase
{
    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testACancellationComesWithItsTransaction(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $this->queue()->push('in Redis', id: 'old');
        $outbox->push('orders', new NewJob('a row', id: 'row'));
        $outbox->discard();

        $this->pdo->beginTransaction();
        $this->assertSame(1, $outbox->cancel('orders', 'old', 'row', 'unknown'), 'one of them was a row');
        $this->assertSame(1, $this->queue()->count());
        $this->pdo->rollBack();
        $this->assertSame(0, $outbox->flush());
        $this->assertSame([1, 1], [$this->queue()->count(), $this->rows()], 'nothing is cancelled');

        $outbox->transaction(fn () => $outbox->cancel('orders', 'old', 'row'));
        $this->assertSame(0, $this->queue()->count());
        $this->queue()->push('another of this id', id: 'old');
        $this->assertSame(2, $this->relay()->runOnce());
        $this->assertSame(['another of this id'], $this->work(), 'the relay cancels no job that is newer');

        // Nobody has flushed it.
        $this->queue()->push('in Redis', id: 'old');
        usleep(2000); // a job of the same millisecond may be a newer one
        $outbox->cancel('orders', 'old');
        $outbox->discard();
        $this->assertSame(1, $this->relay()->runOnce());
        $this->assertSame([], $this->work());
        $this->assertSame(0, $outbox->cancel('orders'));
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testACancellationStopsNobodyElse(string $server): void
    {
        if ($server === 'sqlite') {
            $this->assertSame('sqlite', self::database($server)->driver(), 'one writer at a time, whatever it writes');

            return;
        }
        $this->begin($server);
        $outbox = $this->outbox(journal: true);
        $outbox->pushMany('orders', [['payload' => 1, 'id' => 'a'], ['payload' => 2, 'id' => 'c'], ['payload' => 3, 'id' => 'e']]);
        $this->pdo->beginTransaction();
        $outbox->cancel('orders', 'c', 'gone');

        $other = self::database($server)->pdo($this->database);
        $other->exec($server === 'postgresql' ? "set lock_timeout = '5s'" : 'set innodb_lock_wait_timeout = 5');
        $elsewhere = new Outbox($other, fn (string $name): DelayQueue => $this->queue($name), true);
        foreach (['b', 'f', 'gonf'] as $id) {
            $elsewhere->push('orders', new NewJob(1, id: $id));
        }
        $elsewhere->cancel('orders', 'a');
        $this->assertGreaterThan(0, $this->relay(pdo: $other)->runOnce());
        $this->pdo->commit();
        $this->assertSame('cancelled', $this->pdo->query('select state from ' . Schema::JOBS . " where job = 'c'")->fetchColumn());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAJobIsCancelledAndPushedAgainInOneTransaction(string $server): void
    {
        $this->begin($server);
        foreach ([true, false] as $isFlushed) {
            $outbox = $this->outbox();
            $this->queue()->push('old', id: 'order-1');
            $this->pdo->beginTransaction();
            $outbox->cancel('orders', 'order-1');
            $outbox->push('orders', new NewJob('new', id: 'order-1'));
            $this->pdo->commit();
            $isFlushed ? $outbox->flush() : $outbox->discard();
            $this->relay()->runOnce();
            $this->relay()->runOnce();
            $this->assertSame(['new'], $this->work());
        }
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAPushThatFollowsACancellationAtOnceStays(string $server): void
    {
        $this->begin($server);
        for ($i = 0; $i < 20; $i++) {
            $outbox = $this->outbox();
            $outbox->cancel('orders', "order-$i");
            $outbox->discard();
            $outbox->push('orders', new NewJob($i, id: "order-$i"));
            $outbox->flush();
        }
        $this->relay()->runOnce();
        $this->assertCount(20, $this->work());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testACancellationIsCarriedOutOnceWhateverTheClocksSay(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $this->queue()->pushOnce([['receipt' => 'r1', 'payload' => 'of a host that is ahead', 'id' => 'a', 'createdAt' => microtime(true) + 2]]);
        $outbox->cancel('orders', 'a');
        $this->assertSame(0, $outbox->flush());
        $this->assertSame(0, $this->queue()->count());
        $this->queue()->pushOnce([['receipt' => 'r2', 'payload' => 'of a host that is behind', 'id' => 'a', 'createdAt' => microtime(true) - 2]]);
        $this->assertSame(1, $this->relay()->runOnce());
        $this->assertSame(['of a host that is behind'], $this->work());
    }
}
