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
 * @internal
 */
final class PdoConnection implements Connection
{
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
        return $this->run($sql, $values)->rowCount();
    }

    public function rows(string $sql, array $values = []): array
    {
        $rows = $this->run($sql, $values)->fetchAll(PDO::FETCH_ASSOC);

        return $this->handle()->getAttribute(PDO::ATTR_CASE) === PDO::CASE_UPPER ? array_map(array_change_key_case(...), $rows) : $rows;
    }

    public function transaction(callable $work): mixed
    {
        $pdo = $this->handle();
        try {
            $pdo->beginTransaction() || throw self::refused($pdo, 'BEGIN');
        } catch (Throwable $error) {
            $this->openAgain();
            throw $error;
        }
        $this->isWorking = true;
        try {
            $result = $work();
            $pdo->commit() || throw self::refused($pdo, 'COMMIT');
        } catch (Throwable $error) {
            try {
                $pdo->rollBack();
            } catch (PDOException) {
                // It is lost, and so the transaction is rolled back.
            }
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

    /** @param list<int|string|null> $values */
    private function run(string $sql, array $values): PDOStatement
    {
        $pdo = $this->handle();
        try {
            $statement = $pdo->prepare($sql, $this->driver() === 'pgsql' ? self::inOneTrip() : []) ?: throw self::refused($pdo, $sql);
            foreach ($values as $index => $value) {
                $statement->bindValue($index + 1, $value, match (true) {
                    is_int($value) => PDO::PARAM_INT,
                    $value === null => PDO::PARAM_NULL,
                    default => PDO::PARAM_STR,
                });
            }
            $statement->execute() || throw self::refused($statement, $sql);

            return $statement;
        } catch (Throwable $error) {
            $this->openAgain();
            throw $error;
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

    /** Where the application's PDO is one that does not throw. */
    private static function refused(PDO|PDOStatement $object, string $what): PDOException
    {
        [$state, , $message] = $object->errorInfo() + ['', null, null];
        $error = new PDOException("SQLSTATE[$state]: $message (" . strtok($what, "\n") . ')');
        $error->errorInfo = $object->errorInfo();

        return $error;
    }
}
