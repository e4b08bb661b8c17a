<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use Throwable;

/**
 * The differences between the databases.
 *
 * @internal
 */
enum Dialect: string
{
    case PostgreSql = 'pgsql';
    case MySql = 'mysql';
    case Sqlite = 'sqlite';

    /**
     * Before a DELETE of MySQL that joins or forces an index: MariaDB's sql_safe_updates refuses it though it looks for
     * keys.
     */
    public const UNSAFE = '/*M! set statement sql_safe_updates = 0 for */ ';

    /**
     * Behind a SELECT that gives all rows there are: without a LIMIT, MySQL gives no more than the session's
     * sql_select_limit.
     */
    public const ALL = ' limit 9223372036854775807';

    /** Microseconds since 1970 by the database's clock, without a time zone and its repeated hour. SQLite has no clock of its own that is as fine. */
    public function now(): string
    {
        return match ($this) {
            self::PostgreSql => '(extract(epoch from clock_timestamp()) * 1000000)::bigint',
            self::MySql => "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))",
            self::Sqlite => (string) (int) (microtime(true) * 1e6),
        };
    }

    /** A place for bytes, which are bound as bound() gives them. */
    public function bytes(): string
    {
        return match ($this) {
            self::PostgreSql => "decode(?, 'base64')",
            self::MySql => 'from_base64(?)',
            self::Sqlite => 'cast(? as blob)',
        };
    }

    /** A column of bytes, which read() reads. */
    public function column(string $name): string
    {
        return match ($this) {
            self::PostgreSql => "encode($name, 'base64') as $name",
            self::MySql => "to_base64($name) as $name",
            self::Sqlite => $name,
        };
    }

    /** Whether a column, of bytes or of text, has these bytes, which are bound as bound() gives them. */
    public function finds(string $column, bool $isText = false): string
    {
        return match ($this) {
            self::PostgreSql => "position({$this->bytes()} in " . ($isText ? "convert_to($column, 'UTF8')" : $column) . ') > 0',
            self::MySql => "locate({$this->bytes()}, cast($column as binary)) > 0",
            self::Sqlite => "instr(cast($column as blob), {$this->bytes()}) > 0",
        };
    }

    public function bound(string $bytes): string
    {
        return $this === self::Sqlite ? $bytes : base64_encode($bytes);
    }

    public function read(string $column): string
    {
        return $this === self::Sqlite ? $column : (string) base64_decode($column);
    }

    /** Behind a SELECT: its rows are locked, and those that others have locked are passed over. SQLite has one lock for all. */
    public function lockedForOne(): string
    {
        return $this === self::Sqlite ? '' : ' for update skip locked';
    }

    /**
     * Deletes rows of the outbox. Of a small table MySQL would scan all rows for a list of ids, and so wait for those that somebody else has
     * locked, and lock the gaps between them: it is made to look for each by its key.
     *
     * @param non-empty-list<string> $ids
     *
     * @return array{string, list<string>} SQL and values
     */
    public function delete(array $ids): array
    {
        return $this === self::MySql
            ? [
                self::UNSAFE . "delete o from json_table(?, '$[*]' columns (id char(36) path '$')) x"
                    . ' straight_join delayqueue_outbox o force index (primary)'
                    . ' on o.id = convert(x.id using ascii) collate ascii_bin',
                [json_encode($ids, JSON_THROW_ON_ERROR)],
            ]
            : ['delete from delayqueue_outbox where id in ' . self::places(count($ids)), $ids];
    }

    /**
     * Sets up the connection of a relay, whose transactions begin and end by statements: a server may be configured to
     * begin one with any other statement, too.
     *
     * @return list<string>
     */
    public function ofRelay(): array
    {
        return $this === self::MySql ? ['set autocommit = 1'] : [];
    }

    /** Before a transaction of the relay. Otherwise MySQL's scan locks the gaps into which producers insert. @return list<string> */
    public function beforeRelaying(): array
    {
        return $this === self::MySql ? ['set transaction isolation level read committed'] : [];
    }

    /**
     * The statements with which a transaction of the relay begins. With a stricter isolation, which may be the
     * database's default, PostgreSQL refuses rows that another relay has deleted meanwhile. A lost transaction is
     * repeated, so none waits for the disk.
     *
     * @return list<string>
     */
    public function whileRelaying(): array
    {
        return $this === self::PostgreSql
            ? ['set transaction isolation level read committed', 'set local synchronous_commit = off']
            : [];
    }

    /** Behind the work of a transaction: PostgreSQL rolls back without a word what an error has aborted, also where that was caught. @return list<string> */
    public function beforeCommit(): array
    {
        return $this === self::PostgreSql ? ['select 1'] : [];
    }

    /**
     * In a transaction, before receipts are forgotten because their rows are gone. A crash could bring back rows whose deletion is not on the disk yet. A
     * commit that waits for the disk waits for those before it, too.
     *
     * @return list<string>
     */
    public function beforeForgetting(): array
    {
        return $this === self::PostgreSql ? ['set local synchronous_commit = on', "select pg_logical_emit_message(true, 'delayqueue', '')"] : [];
    }

    /** So many places in brackets. */
    public static function places(int $count): string
    {
        return '(' . implode(',', array_fill(0, $count, '?')) . ')';
    }

    /** A table or a column is not there. */
    public static function isMissing(?Throwable $error): bool
    {
        for (; $error !== null; $error = $error->getPrevious()) {
            if (preg_match('/\b(42P01|42S02|42703|42S22)\b|no such (table|column)|has no column/', "{$error->getCode()} {$error->getMessage()}") === 1) {
                return true;
            }
        }

        return false;
    }
}
