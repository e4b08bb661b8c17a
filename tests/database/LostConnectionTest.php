<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue\Database\Connection;
use DelayQueue\Database\Internal\PdoConnection;
use DelayQueue\NewJob;
use DelayQueue\Tests\Database\Support\OutboxTestCase;
use LogicException;
use PDO;
use PDOException;
use Throwable;
use UnexpectedValueException;

/** A connection that a function opens is opened again after it was lost, wherever that shows first. */
final class LostConnectionTest extends OutboxTestCase
{
    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testAConnectionIsOpenedAgain(string $server): void
    {
        $this->begin($server);
        $uses = [
            'a statement' => static fn (Connection $connection) => $connection->execute('insert into orders values (1)'),
            'a transaction' => static fn (Connection $connection) => $connection->transaction(static fn (): int => $connection->execute('insert into orders values (1)')),
        ];
        foreach ($uses as $what => $use) {
            $connection = PdoConnection::of(fn (): PDO => self::database($server)->pdo($this->database));
            $this->assertNotSame([], $connection->rows('select 1'));
            $this->cut($server);
            $this->assertFails($what, static fn () => $use($connection));
            $this->assertFalse($connection->isInTransaction());
            $use($connection);
            try {
                $connection->transaction(function () use ($connection, $server): void {
                    $connection->execute('delete from orders');
                    $this->cut($server);
                    $this->assertFails('inside a transaction', static fn () => $connection->rows('select 1'));
                    $this->assertFails('what follows', static fn () => $connection->rows('select 1'));
                    throw new UnexpectedValueException();
                });
                $this->fail('what the callback throws passes through');
            } catch (UnexpectedValueException) {
                $this->assertEquals([['n' => 1]], $connection->rows('select n from orders'), 'the whole transaction is lost');
            }
            $connection->execute('delete from orders');
        }
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testARelayGoesOn(string $server): void
    {
        $this->begin($server);
        $relay = $this->relay(pdo: fn (): PDO => self::database($server)->pdo($this->database));
        for ($n = 1; $n <= 3; $n++) {
            $relay->runOnce();
            $this->outbox()->push('orders', new NewJob($n));
            $this->cut($server);
            $this->assertFails('the lost connection', static fn () => $relay->runOnce());
            $this->assertSame(1, $relay->runOnce());
        }
        $this->assertSame([1, 2, 3], $this->work());
    }

    /** Ends all connections of the database but the test's own. */
    private function cut(string $server): void
    {
        $admin = self::database($server)->admin($this->database);
        if ($server === 'postgresql') {
            $own = $this->pdo->query('select pg_backend_pid()')->fetchColumn();
            $admin->exec("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid not in (pg_backend_pid(), $own)");
        } else {
            $own = $this->pdo->query('select connection_id()')->fetchColumn();
            foreach ($admin->query("select id from information_schema.processlist where db = '$this->database' and id not in (connection_id(), $own)")->fetchAll(PDO::FETCH_COLUMN) as $id) {
                try {
                    $admin->exec("kill $id");
                } catch (PDOException $error) {
                    $this->assertSame(1094, $error->errorInfo[1], 'one that was ending by itself is gone');
                }
            }
        }
    }

    private function assertFails(string $what, callable $work): void
    {
        try {
            $work();
        } catch (LogicException $error) {
            throw $error;
        } catch (Throwable $error) {
            $this->assertInstanceOf(PDOException::class, $error, $what);

            return;
        }
        $this->fail("$what has not failed");
    }
}
