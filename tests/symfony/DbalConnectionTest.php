<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;
use DelayQueue\NewJob;
use DelayQueue\Symfony\Database\DbalConnection;
use DelayQueue\Symfony\Database\FlushMiddleware;
use DelayQueue\Tests\Database\Support\DatabaseServer;
use Doctrine\DBAL\Configuration;
use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use LogicException;
use RuntimeException;

/** The outbox on connections of Doctrine's DBAL that are made by hand, without Messenger. */
final class DbalConnectionTest extends DatabaseMessengerTestCase
{
    /** @return iterable<string, array{string, string}> each driver of DBAL that is for these databases */
    public static function drivers(): iterable
    {
        $drivers = ['postgresql' => ['pdo_pgsql', 'pgsql'], 'mariadb' => ['pdo_mysql', 'mysqli'], 'mysql' => ['pdo_mysql', 'mysqli'], 'sqlite' => ['pdo_sqlite', 'sqlite3']];
        foreach (DatabaseServer::names() as $database) {
            foreach ($drivers[$database] as $driver) {
                if (extension_loaded($driver)) {
                    yield "$database by $driver" => [$database, $driver];
                }
            }
        }
    }

    /** @dataProvider drivers */
    #[\PHPUnit\Framework\Attributes\DataProvider('drivers')]
    public function testJobsComeWithTheCommitAndTheRelayWorks(string $database, string $driver): void
    {
        $this->useDatabase($database);
        [$connection, $outbox] = $this->outbox($driver);
        $connection->beginTransaction();
        $outbox->push('orders', new NewJob(['order' => "\0é"], '1h', 'a', headers: ['k' => 'v']));
        $outbox->push('orders', ['payload' => null, 'delay' => new \DateTimeImmutable('+2 hours'), 'id' => 'b']);
        $this->assertSame(0, $this->queue()->count());
        $connection->commit();
        $this->assertSame([['order' => "\0é"], ['k' => 'v']], [$this->queue()->peek('a')->payload, $this->queue()->peek('a')->headers]);

        $this->assertSame('c', (new Outbox(new DbalConnection($connection)))->push('orders', new NewJob(['not' => 'flushed'], id: 'c')));
        $this->assertSame(2, $this->queue()->count());
        $this->assertSame(3, (new Relay(new DbalConnection($connection), after: 0.0))->runOnce());
        $this->assertSame([3, 0], [$this->queue()->count(), $this->rows()]);

        $this->assertSame(1, $outbox->transaction(function (Connection $same) use ($connection, $outbox): int {
            $this->assertSame($connection, $same);
            $outbox->cancel('orders', 'a');

            return 1;
        }));
        $this->assertNull($this->queue()->peek('a'));
    }

    public function testARelayRefusesAConnectionThatBeginsTransactionsByItself(): void
    {
        $this->useDatabase('sqlite');
        [$connection] = $this->outbox('pdo_sqlite');
        $connection->close();
        $connection->setAutoCommit(false);
        $this->expectException(LogicException::class);
        $this->expectExceptionMessage('a relay has transactions of its own, and one is open');
        (new Relay(new DbalConnection($connection)))->runOnce();
    }

    /** @dataProvider drivers */
    #[\PHPUnit\Framework\Attributes\DataProvider('drivers')]
    public function testAConnectionThatIsLostBehindTheCommitCountsItsTransactionsRight(string $database, string $driver): void
    {
        $this->useDatabase($database);
        $lose = null;
        [$connection, $outbox] = $this->outbox($driver, static function () use (&$lose): void {
            $lose === null || $lose();
            throw new RuntimeException('any listener may fail');
        });
        $connection->beginTransaction();
        $outbox->push('orders', new NewJob(1, id: 'a'));
        [$ask, $kill] = match (DatabaseServer::named($database)->driver()) {
            'pgsql' => ['select pg_backend_pid()', 'select pg_terminate_backend(%d)'],
            'mysql' => ['select connection_id()', 'kill %d'],
            'sqlite' => ['select 1', 'drop table delayqueue_source'],
        };
        $session = (int) $connection->fetchOne($ask);
        $lose = fn () => $this->other()->executeStatement(sprintf($kill, $session));
        $connection->commit();
        $lose = null;
        $this->assertSame(0, $connection->getTransactionNestingLevel());
        $connection->close();
        $connection->beginTransaction();
        $outbox->push('orders', new NewJob(2, id: 'b'));
        $connection->rollBack();
        $this->assertSame([1, 0], [$this->rows(), $this->queue()->count()]);
    }

    public function testOtherCommitsOfASharedConfigurationFlushNothing(): void
    {
        $this->useDatabase('sqlite');
        $configuration = new Configuration();
        $configuration->setMiddlewares([new FlushMiddleware()]);
        [$one, $other] = [$this->other($configuration), $this->other($configuration)];
        $outbox = new Outbox($database = new DbalConnection($one));
        $database->flushAfterCommit($outbox);
        $outbox->push('orders', new NewJob(1, id: 'a'));
        $other->transactional(static fn () => null);
        $this->assertSame(0, $this->queue()->count());
        $one->transactional(static fn () => null);
        $this->assertSame(1, $this->queue()->count());
    }

    public function testAConnectionThatTellsOfNoCommitsIsRefused(): void
    {
        $this->useDatabase('sqlite');
        $database = new DbalConnection($this->other());
        $this->expectException(LogicException::class);
        $this->expectExceptionMessage(FlushMiddleware::class);
        $database->flushAfterCommit(new Outbox($database));
    }

    /** @return array{Connection, Outbox} */
    private function outbox(string $driver, ?\Closure $first = null): array
    {
        $middleware = new FlushMiddleware();
        $first === null || $middleware->onEnd($first);
        $configuration = new Configuration();
        $configuration->setMiddlewares([$middleware]);
        $connection = DriverManager::getConnection(['driver' => $driver] + $this->other()->getParams(), $configuration);
        $database = new DbalConnection($connection);
        $outbox = new Outbox($database);
        $database->flushAfterCommit($outbox);

        return [$connection, $outbox];
    }

    private function queue(): \DelayQueue
    {
        return $this->delayQueue('orders');
    }
}
