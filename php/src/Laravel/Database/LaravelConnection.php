<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Database;

use DelayQueue\Database\Connection;
use Illuminate\Database\Connection as IlluminateConnection;
use Illuminate\Database\ConnectionResolverInterface;
use LogicException;
use PDO;

/**
 * A database connection of Laravel for outbox, inbox and journal: its transactions, its reconnects, its events and its query log.
 *
 *     new Inbox(new LaravelConnection(app('db'), 'mysql'))
 *
 * The table prefix of the connection does not apply: the tables have one name for programs with and without Laravel.
 */
final class LaravelConnection implements Connection
{
    /** @param string|null $name of config/database.php; null: the default connection */
    public function __construct(private readonly ConnectionResolverInterface $databases, private readonly ?string $name = null)
    {
    }

    public function execute(string $sql, array $values = []): int
    {
        return $this->handle()->affectingStatement($sql, $values);
    }

    /** {@inheritdoc} Never from a replica. */
    public function rows(string $sql, array $values = []): array
    {
        return array_map(static fn (object|array $row): array => (array) $row, $this->handle()->select($sql, $values, false));
    }

    public function transaction(callable $work): mixed
    {
        return $this->handle()->transaction(static fn (): mixed => $work());
    }

    /** {@inheritdoc} Also where the application has begun it on the PDO, of which Laravel does not know. */
    public function isInTransaction(): bool
    {
        $connection = $this->handle();
        $pdo = $connection->getRawPdo();

        return $connection->transactionLevel() > 0 || ($pdo instanceof PDO && $pdo->inTransaction());
    }

    public function driver(): string
    {
        return match ($driver = $this->handle()->getDriverName()) {
            'pgsql', 'mysql', 'sqlite' => $driver,
            'mariadb' => 'mysql',
            default => throw new LogicException("the database side knows PostgreSQL, MySQL, MariaDB and SQLite, and connection [{$this->handle()->getName()}] has the driver $driver"),
        };
    }

    /** Asked for each time: DB::purge() replaces it. */
    public function handle(): IlluminateConnection
    {
        $connection = $this->databases->connection($this->name);
        assert($connection instanceof IlluminateConnection);

        return $connection;
    }
}
