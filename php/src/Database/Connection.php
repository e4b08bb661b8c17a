<?php

declare(strict_types=1);

namespace DelayQueue\Database;

/**
 * A connection to the application's own database, as the outbox, the inbox and the journal need it. There is one for PDO, which a PDO object stands
 * for everywhere, one for Doctrine's DBAL and one for Laravel's.
 *
 * Statements have ? for their values. Strings are UTF-8: bytes go as base64. What a driver throws passes through, since the application's own
 * code may repeat a transaction because of it.
 */
interface Connection
{
    /**
     * @param list<int|string|null> $values
     *
     * @return int how many rows it has changed
     */
    public function execute(string $sql, array $values = []): int;

    /**
     * @param list<int|string|null> $values
     *
     * @return list<array<string, int|float|string|null>> by the names of the columns
     */
    public function rows(string $sql, array $values = []): array;

    /**
     * Begins, works, commits. What $work throws rolls back, and passes through.
     *
     * @template T
     *
     * @param callable(): T $work
     *
     * @return T
     */
    public function transaction(callable $work): mixed;

    public function isInTransaction(): bool;

    /** @return 'pgsql'|'mysql'|'sqlite' that of MariaDB is mysql */
    public function driver(): string;

    /** The application knows it as this: the PDO, or the framework's object. Its callbacks get it. */
    public function handle(): object;
}
