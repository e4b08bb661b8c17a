<?php

declare(strict_types=1);

namespace DelayQueue\Database;

use Closure;
use DelayQueue\Database\Internal\Autocommit;
use DelayQueue\Database\Internal\Dialect;
use DelayQueue\Database\Internal\PdoConnection;
use PDO;
use Throwable;
use ValueError;

/**
 * The tables: `delayqueue_outbox`, what Redis may not have yet; `delayqueue_source`, one row, whose word begins the receipts of this database; and
 * `delayqueue_jobs`, what became of each job, for inbox and journal.
 */
final class Schema
{
    public const VERSION = 1;

    public const OUTBOX = 'delayqueue_outbox';
    public const SOURCE = 'delayqueue_source';
    public const JOBS = 'delayqueue_jobs';

    private const CURE = 'run "delayqueue outbox:install"';

    /**
     * Makes the tables that are not there. On MySQL and MariaDB that commits a transaction.
     *
     * @param PDO|Closure(): PDO|Connection $database
     * @param bool $jobs also the table of inbox and journal
     */
    public static function install(PDO|Closure|Connection $database, bool $jobs = false): void
    {
        $connection = PdoConnection::of($database);
        Autocommit::run($connection, static function () use ($connection, $jobs): void {
            foreach (self::statements($connection->driver(), $jobs) as $statement) {
                $connection->execute($statement);
            }
        });
    }

    /**
     * For a migration of one's own: run all of them once.
     *
     * @param 'pgsql'|'mysql'|'mariadb'|'sqlite' $driver
     * @param bool $jobs also the table of inbox and journal
     *
     * @return list<string> statements
     */
    public static function statements(string $driver, bool $jobs = false): array
    {
        $dialect = Dialect::tryFrom($driver === 'mariadb' ? 'mysql' : $driver) ?? throw new ValueError(self::class . '::statements(): Argument #1 ($driver) must be "pgsql", "mysql", "mariadb" or "sqlite"');
        [$uuid, $name, $bytes, $text, $word, $number, $options] = match ($dialect) {
            Dialect::PostgreSql => ['uuid', 'varchar(200)', 'bytea', 'text', 'varchar(%d)', 'bigint', ' with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)'],
            // A collation would make one id of A and a.
            Dialect::MySql => ['char(36) character set ascii collate ascii_bin', 'varbinary(200)', 'longblob', 'mediumtext character set utf8mb4', 'varchar(%d) character set utf8mb4', 'bigint', ' engine=InnoDB row_format=dynamic'],
            Dialect::Sqlite => ['text', 'text', 'blob', 'text', 'text', 'integer', ''],
        };
        $word = static fn (int $length): string => sprintf($word, $length);
        [$outbox, $source, $table] = [self::OUTBOX, self::SOURCE, self::JOBS];
        $onlyOnce = $dialect === Dialect::MySql ? ['insert ignore into', ''] : ['insert into', ' on conflict do nothing'];
        $statements = [
            "create table if not exists $outbox (id $uuid not null primary key, queue $name not null, job $name not null, payload $bytes not null, options $text null, placed $number not null, due $number not null)$options",
            "create table if not exists $source (id smallint not null primary key, source {$word(32)} not null, version smallint not null)",
            "$onlyOnce[0] $source (id, source, version) values (1, '" . bin2hex(random_bytes(4)) . "', " . self::VERSION . ")$onlyOnce[1]",
        ];
        if ($jobs) {
            $isMySql = $dialect === Dialect::MySql;
            // MySQL makes no index that may be there already.
            $statements[] = "create table if not exists $table (queue $name not null, job $name not null, made $number not null, due $number null, payload $bytes null, options $text null,"
                . " state {$word(10)} not null, attempts integer not null default 0, began $number null, ended $number null, worker {$word(120)} null, error $text null, runs $text null, receipt $uuid null,"
                . ' primary key (queue, job, made)' . ($isMySql ? ", key {$table}_ended (ended)" : '') . ')' . ($isMySql ? $options : '');
            if (!$isMySql) {
                $statements[] = "create index if not exists {$table}_ended on $table (ended)";
            }
        }

        return $statements;
    }

    /**
     * The word of this database, with which its receipts begin.
     *
     * @throws SchemaException when the tables are missing, older or newer
     */
    public static function source(Connection $connection): string
    {
        $rows = self::rows($connection, 'select source, version from ' . self::SOURCE);
        $version = (int) ($rows[0]['version'] ?? throw new SchemaException('the table ' . self::SOURCE . ' is empty: ' . self::CURE));
        if ($version !== self::VERSION) {
            $cure = $version > self::VERSION ? 'update the package delayqueue/delayqueue' : 'change them as the changelog of the package says';
            throw new SchemaException("the tables of the outbox are of version $version, and this package knows " . self::VERSION . ": $cure");
        }

        return (string) $rows[0]['source'];
    }

    /** An error of a table that is not there, or lacks a column, with its cure; any other error as it is. */
    public static function explained(Throwable $error): Throwable
    {
        return Dialect::isMissing($error)
            ? new SchemaException('a table of the database side is missing or of another version: ' . self::CURE . ", or for inbox and journal \"delayqueue outbox:install --jobs\" ({$error->getMessage()})", 0, $error)
            : $error;
    }

    /**
     * @internal
     *
     * @param list<int|string|null> $values
     *
     * @return list<array<string, int|float|string|null>>
     */
    public static function rows(Connection $connection, string $sql, array $values = []): array
    {
        try {
            return $connection->rows($sql, $values);
        } catch (Throwable $error) {
            throw self::explained($error);
        }
    }
}
