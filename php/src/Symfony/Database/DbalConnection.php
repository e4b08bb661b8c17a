<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Database;

use Closure;
use DelayQueue\Database\Connection;
use DelayQueue\Database\Outbox;
use Doctrine\DBAL\Connection as Dbal;
use Doctrine\DBAL\Driver\Connection as DriverConnection;
use Doctrine\DBAL\ParameterType;
use Doctrine\DBAL\Platforms\AbstractMySQLPlatform;
use Doctrine\DBAL\Platforms\PostgreSQLPlatform;
use Doctrine\DBAL\Platforms\SqlitePlatform;
use LogicException;
use Throwable;

/**
 * A connection of Doctrine's DBAL (3.6 and later, 4), with or without Symfony:
 *
 *     $configuration = (new Configuration())->setMiddlewares([new FlushMiddleware()]);
 *     $database = new DbalConnection(DriverManager::getConnection($parameters, $configuration));
 *     $outbox = new Outbox($database);
 *     $database->flushAfterCommit($outbox);
 *
 * Transactions have to be begun by DBAL: it does not see those of a BEGIN in SQL.
 */
final class DbalConnection implements Connection
{
    /** A flush reads with it. While DBAL commits, it counts the transaction as open, and counts wrongly when a query of its own loses the connection. */
    private ?DriverConnection $committing = null;

    public function __construct(private readonly Dbal $connection)
    {
    }

    /**
     * From now on each commit of the connection flushes $outbox, and each rollback discards what it has remembered. Savepoints do neither.
     *
     * @param (Closure(bool): void)|null $ended is called behind it, with whether it was a commit
     *
     * @throws LogicException when the connection's configuration has no FlushMiddleware
     */
    public function flushAfterCommit(Outbox $outbox, ?Closure $ended = null): void
    {
        foreach ($this->connection->getConfiguration()->getMiddlewares() as $middleware) {
            if ($middleware instanceof FlushMiddleware) {
                $middleware->onEnd(function (DriverConnection $driver, bool $committed) use ($outbox, $ended): void {
                    $this->ended($driver, $committed, $outbox, $ended);
                });

                return;
            }
        }
        throw new LogicException('the DBAL connection has no ' . FlushMiddleware::class . ' in its configuration: nothing tells of its commits');
    }

    public function execute(string $sql, array $values = []): int
    {
        return (int) $this->connection->executeStatement($sql, $values, array_map(self::type(...), $values));
    }

    public function rows(string $sql, array $values = []): array
    {
        if ($this->committing === null) {
            return $this->connection->executeQuery($sql, $values, array_map(self::type(...), $values))->fetchAllAssociative();
        }
        $statement = $this->committing->prepare($sql);
        foreach ($values as $index => $value) {
            $statement->bindValue($index + 1, $value, self::type($value));
        }

        return $statement->execute()->fetchAllAssociative();
    }

    public function transaction(callable $work): mixed
    {
        $level = $this->connection->getTransactionNestingLevel();
        try {
            // DBAL 3 counts a transaction as open whose BEGIN has failed.
            $this->connection->beginTransaction();
            $result = $work();
            if ($this->connection->getTransactionNestingLevel() !== $level + 1) {
                throw new LogicException('a transaction was begun inside of another one and not ended, or ended too often');
            }
            $this->connection->commit();
        } catch (Throwable $error) {
            try {
                while ($this->connection->getTransactionNestingLevel() > $level) {
                    $this->connection->rollBack();
                }
            } catch (Throwable) {
                // It is lost, and so the transaction is rolled back.
            }
            throw $error;
        }

        return $result;
    }

    /** {@inheritdoc} Without auto-commit DBAL begins one when it connects, and behind each commit. */
    public function isInTransaction(): bool
    {
        return $this->connection->isTransactionActive() || !$this->connection->isAutoCommit();
    }

    public function driver(): string
    {
        $platform = $this->connection->getDatabasePlatform();

        return match (true) {
            $platform instanceof PostgreSQLPlatform => 'pgsql',
            $platform instanceof AbstractMySQLPlatform => 'mysql',
            $platform instanceof SqlitePlatform => 'sqlite',
            default => throw new LogicException('the database side knows PostgreSQL, MySQL, MariaDB and SQLite, not ' . $platform::class),
        };
    }

    public function handle(): Dbal
    {
        return $this->connection;
    }

    /** Another connection may share the configuration, and so the middleware. */
    private function ended(DriverConnection $driver, bool $committed, Outbox $outbox, ?Closure $ended): void
    {
        if (!$this->connection->isConnected() || $this->connection->getNativeConnection() !== $driver->getNativeConnection()) {
            return;
        }
        $this->committing = $committed ? $driver : null;
        try {
            $committed ? $outbox->flushCommitted() : $outbox->discard();
        } finally {
            $this->committing = null;
        }
        $ended === null ?: $ended($committed);
    }

    /** DBAL 3 has numbers, DBAL 4 an enum. */
    private static function type(int|string|null $value): mixed
    {
        return match (true) {
            is_int($value) => ParameterType::INTEGER,
            $value === null => ParameterType::NULL,
            default => ParameterType::STRING,
        };
    }
}
