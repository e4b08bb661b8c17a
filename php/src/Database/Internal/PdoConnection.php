<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use Closure;
use DelayQueue\Database\Connection;
use LogicException;
use PDO;
use PDOException;
use PDOStatement;
use Throwable;
use TypeError;

/**
 * A PDO, whatever attributes the application has set.
 *
 * @internal
 */
final class PdoConnection implements Connection
{
    /** While the PDO is used here, errors are thrown, and rows come as the database has them. */
    private const ATTRIBUTES = [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_CASE => PDO::CASE_NATURAL,
        PDO::ATTR_ORACLE_NULLS => PDO::NULL_NATURAL,
    ];

    /** Inside transaction(). */
    private bool $isWorking = false;

    /** @param Closure(): PDO|null $open opens it when it is needed, and again after an error; null: the PDO is the application's, and stays */
    private function __construct(private ?PDO $pdo, private readonly ?Closure $open = null, private ?string $driver = null)
    {
    }

    /**
     * @param PDO|Closure(): PDO|Connection $database
     * @param 'pgsql'|'mysql'|'sqlite'|null $driver of what the closure opens; null: it is asked
     */
    public static function of(PDO|Closure|Connection $database, ?string $driver = null): Connection
    {
        return match (true) {
            $database instanceof PDO => new self($database),
            $database instanceof Closure => new self(null, $database, $driver),
            default => $database,
        };
    }

    public function execute(string $sql, array $values = []): int
    {
        return $this->run($sql, $values, static fn (PDOStatement $statement): int => $statement->rowCount());
    }

    public function rows(string $sql, array $values = []): array
    {
        $all = static fn (PDOStatement $statement): array => $statement->fetchAll(PDO::FETCH_ASSOC);

        return $this->run($sql, $values, $all, onlyReads: true);
    }

    public function transaction(callable $work): mixed
    {
        $pdo = $this->handle();
        try {
            self::naturally($pdo, static fn (): bool => $pdo->beginTransaction());
        } catch (Throwable $error) {
            $this->openAgain();
            throw $error;
        }
        $this->isWorking = true;
        try {
            $result = $work();
            self::naturally($pdo, static fn (): bool => $pdo->commit());
        } catch (Throwable $error) {
            self::end($pdo);
            $this->isWorking = false;
            $this->openAgain();
            throw $error;
        }
        $this->isWorking = false;

        return $result;
    }

    public function isInTransaction(): bool
    {
        // PDO takes a lost connection to PostgreSQL for one with an open transaction.
        $pdo = $this->handle();

        return $pdo->inTransaction() && !($this->driver() === 'pgsql' && $pdo->getAttribute(PDO::ATTR_CONNECTION_STATUS) === 'Bad connection.');
    }

    public function driver(): string
    {
        return $this->driver ??= match ($driver = $this->handle()->getAttribute(PDO::ATTR_DRIVER_NAME)) {
            'pgsql', 'mysql', 'sqlite' => $driver,
            default => throw new LogicException("the database side knows PostgreSQL, MySQL, MariaDB and SQLite, not PDO's driver $driver"),
        };
    }

    public function handle(): PDO
    {
        $pdo = $this->pdo ?? ($this->open ?? throw new LogicException('no database'))();

        return $this->pdo = $pdo instanceof PDO ? $pdo : throw new TypeError('the function that opens the database must return a PDO, ' . get_debug_type($pdo) . ' returned');
    }

    /**
     * @template T
     *
     * @param list<int|string|null> $values
     * @param Closure(PDOStatement): T $take
     * @param bool $onlyReads a transaction that the statement has begun (autocommit = 0) is ended: nobody else does
     *
     * @return T
     */
    private function run(string $sql, array $values, Closure $take, bool $onlyReads = false): mixed
    {
        $pdo = $this->handle();
        $isOutside = $this->driver() === 'mysql' && !$pdo->inTransaction();
        try {
            $result = self::naturally($pdo, fn (): mixed => $take($this->statement($pdo, $sql, $values)));
        } catch (Throwable $error) {
            $isOutside && self::end($pdo);
            $this->openAgain();
            throw $error;
        }
        $isOutside && $onlyReads && self::end($pdo);

        return $result;
    }

    private static function end(PDO $pdo): void
    {
        try {
            $pdo->inTransaction() && self::naturally($pdo, static fn (): bool => $pdo->rollBack());
        } catch (PDOException) {
            // It is lost, and so the transaction is rolled back.
        }
    }

    /** @param list<int|string|null> $values */
    private function statement(PDO $pdo, string $sql, array $values): PDOStatement
    {
        $statement = $pdo->prepare($sql, $this->driver() === 'pgsql' ? self::inOneTrip() : []);
        foreach ($values as $index => $value) {
            $statement->bindValue($index + 1, $value, match (true) {
                is_int($value) => PDO::PARAM_INT,
                $value === null => PDO::PARAM_NULL,
                default => PDO::PARAM_STR,
            });
        }
        $statement->execute();

        return $statement;
    }

    /**
     * Works with the attributes of this class, and gives the PDO its own ones back.
     *
     * @template T
     *
     * @param Closure(): T $work
     *
     * @return T
     */
    private static function naturally(PDO $pdo, Closure $work): mixed
    {
        $own = [];
        foreach (self::ATTRIBUTES as $attribute => $value) {
            $own[$attribute] = $pdo->getAttribute($attribute);
        }
        $own = array_diff_assoc($own, self::ATTRIBUTES);
        foreach ($own as $attribute => $_) {
            $pdo->setAttribute($attribute, self::ATTRIBUTES[$attribute]);
        }
        try {
            return $work();
        } finally {
            foreach ($own as $attribute => $value) {
                $pdo->setAttribute($attribute, $value);
            }
        }
    }

    /**
     * Without a statement on the server, which would cost a trip more, and which a pgbouncer would lose.
     *
     * @return array<int, true>
     */
    private static function inOneTrip(): array
    {
        // PHP 8.5 deprecates the old name.
        $name = defined('Pdo\Pgsql::ATTR_DISABLE_PREPARES') ? 'Pdo\Pgsql::ATTR_DISABLE_PREPARES' : 'PDO::PGSQL_ATTR_DISABLE_PREPARES';

        return [constant($name) => true];
    }

    /** The connection may be lost: the next statement opens another. Inside a transaction nothing could follow. PDO takes a lost one for open. */
    private function openAgain(): void
    {
        if ($this->open !== null && !$this->isWorking) {
            $this->pdo = null;
        }
    }
}
