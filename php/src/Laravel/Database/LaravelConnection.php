<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Database;

use Closure;
use DelayQueue\Database\Connection;
use Illuminate\Database\Connection as IlluminateConnection;
use Illuminate\Database\ConnectionResolverInterface;
use Illuminate\Support\Collection;
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

    /**
     * {@inheritdoc} Also where the application has begun it on the PDO, of which Laravel does not know. The transaction around a test is none of
     * the application's, where Laravel tells them apart.
     */
    public function isInTransaction(): bool
    {
        $connection = $this->handle();
        if ($connection->transactionLevel() === 0) {
            $pdo = $connection->getRawPdo();

            return $pdo instanceof PDO && $pdo->inTransaction();
        }

        return $this->manager() === null || $this->isAwaited();
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

    /** Laravel's call-backs wait for a transaction of this connection, and for none of another one. */
    public function isAwaitedAlone(): bool
    {
        return $this->isAwaited() && $this->awaited()->every($this->isOwn(...));
    }

    /** Laravel keeps it for the outermost transaction of this connection, until that has ended and its call-backs have run; null: there is none. */
    public function outermost(): ?object
    {
        return $this->awaited()->first($this->isOwn(...));
    }

    /**
     * Calls it when the open transaction is committed.
     *
     * @param Closure(): mixed $work
     *
     * @return bool false: nobody says when that is
     */
    public function whenCommitted(Closure $work): bool
    {
        if (!$this->isAwaited()) {
            return false;
        }
        // Laravel calls at the commit of the transaction that began last. If that was another connection's, ours is still open.
        $call = fn (): mixed => $this->whenCommitted($work) ? null : $work();
        $this->manager()?->addCallback($call);

        return true;
    }

    /** Laravel's call-backs wait for a transaction of this connection. */
    private function isAwaited(): bool
    {
        return $this->awaited()->contains($this->isOwn(...));
    }

    /** @return Collection<int, object> the transactions that call-backs wait for: in tests, all but the one around the test */
    private function awaited(): Collection
    {
        $manager = $this->manager();

        return match (true) {
            $manager === null => new Collection(),
            method_exists($manager, 'callbackApplicableTransactions') => $manager->callbackApplicableTransactions(),
            default => $manager->getTransactions(), // before Laravel 9.17
        };
    }

    /** The connection's own, since a test may have put another one into the container. */
    private function manager(): ?object
    {
        return (fn (): ?object => $this->transactionsManager ?? null)->call($this->handle());
    }

    private function isOwn(object $transaction): bool
    {
        return $transaction->connection === $this->handle()->getName();
    }
}
