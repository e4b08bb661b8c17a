<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use PDO;
use RuntimeException;

/**
 * A private database server on a Unix socket, with the durable defaults of its kind: one per process and kind, started on first use, gone with
 * the process. It never touches the clusters of the system. A forked child that asks gets its own.
 */
abstract class DatabaseServer
{
    /** @var array<string, self> */
    private static array $shared = [];

    /** @var list<string> databases that {@see fresh()} has made */
    private array $made = [];

    private readonly int $owner;

    final protected function __construct()
    {
        $this->owner = (int) getmypid();
    }

    public static function postgresql(): self
    {
        return self::shared('postgresql', static fn (): self => new PostgresqlServer());
    }

    public static function mariadb(): self
    {
        return self::shared('mariadb', static fn (): self => new MariadbServer());
    }

    /** MySQL itself, whose mysqld is what MYSQL_SERVER names, or else on the PATH: see {@see hasMysql()}. */
    public static function mysql(): self
    {
        return self::shared('mysql', static fn (): self => new MysqlServer());
    }

    /** Files in a temporary folder, in WAL mode. */
    public static function sqlite(): self
    {
        return self::shared('sqlite', static fn (): self => new SqliteFiles());
    }

    public static function named(string $name): self
    {
        return match ($name) {
            'postgresql' => self::postgresql(),
            'mariadb' => self::mariadb(),
            'mysql' => self::mysql(),
            'sqlite' => self::sqlite(),
        };
    }

    /** @return list<string> the databases to test on, as DATABASES names them; without it all that are supported, MySQL only where it is */
    public static function names(): array
    {
        return self::chosen() ?: ['postgresql', 'mariadb', ...(self::hasMysql() ? ['mysql'] : []), 'sqlite'];
    }

    /** @return list<string> what the environment variable DATABASES names */
    public static function chosen(): array
    {
        return (array) preg_split('/\s+/', (string) getenv('DATABASES'), -1, PREG_SPLIT_NO_EMPTY);
    }

    /** Few Debians have MySQL. */
    public static function hasMysql(): bool
    {
        return MysqlServer::program() !== null;
    }

    /** Drops what {@see fresh()} has made on each server of this process, where nobody else uses it. */
    public static function dropAll(): void
    {
        foreach (self::$shared as $server) {
            if ($server->owner === getmypid()) {
                foreach ($server->made as $database) {
                    $server->drop($database);
                }
                $server->made = [];
            }
        }
    }

    /** postgresql, mariadb, mysql or sqlite. */
    abstract public function name(): string;

    /** As PDO names it: pgsql, mysql or sqlite. */
    abstract public function driver(): string;

    /** The DSN for PDO. */
    abstract public function dsn(string $database = 'test'): string;

    /** The folder of PostgreSQL's socket, which clients call its host; MySQL's socket; null for SQLite. */
    abstract public function socket(): ?string;

    /** Its files, and the file "log" with what it says. */
    abstract public function folder(): string;

    /** An ordinary user, as a shop has: all rights on its databases, none beside. Null for SQLite. */
    public function user(): ?string
    {
        return 'shop';
    }

    public function password(): ?string
    {
        return 'open sesame';
    }

    /** A new connection. */
    public function pdo(string $database = 'test'): PDO
    {
        return new PDO($this->dsn($database), $this->user(), $this->password(), [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    }

    /** A new connection of the user who may do everything. */
    abstract public function admin(string $database = 'test'): PDO;

    /** Makes an empty database, and gives its name. */
    final public function fresh(): string
    {
        $this->create($name = 'test_' . bin2hex(random_bytes(6)));

        return $this->made[] = $name;
    }

    /** The process id of the server. */
    abstract public function pid(): ?int;

    /** Sends a signal to all processes of the server: SIGSTOP and SIGCONT for a machine that stands still. */
    public function signal(int $signal): void
    {
        foreach ($this->processes() as $process) {
            posix_kill($process, $signal);
        }
    }

    /** As a crash: the server is gone at once, its files stay. */
    abstract public function kill(): void;

    /** Starts it again, after a crash too; without one it is stopped first, in order. Connections are lost, databases stay. */
    abstract public function restart(): void;

    /** Ends it and removes its files. The next call of {@see named()} starts another. */
    public function stop(): void
    {
        if ((self::$shared[$this->name()] ?? null) === $this) {
            unset(self::$shared[$this->name()]);
        }
    }

    /**
     * CPU time in µs that its processes have used. That of PostgreSQL's connections that are closed is missing: measure while they are open.
     * SQLite has no server, its time is PHP's.
     */
    final public function cpu(): float
    {
        $nanoseconds = 0.0;
        foreach ($this->processes() as $process) {
            foreach (glob("/proc/$process/task/*/schedstat") ?: [] as $file) {
                $nanoseconds += (float) strtok((string) @file_get_contents($file), ' ');
            }
        }

        return $nanoseconds / 1000;
    }

    abstract protected function start(): void;

    /** @return list<int> */
    abstract protected function processes(): array;

    abstract protected function create(string $database): void;

    abstract protected function drop(string $database): void;

    /** The path of a program that may be in a folder for administrators, or null. */
    final protected static function find(string $program): ?string
    {
        foreach ([...explode(':', (string) getenv('PATH')), '/usr/sbin', '/usr/bin'] as $folder) {
            if (is_executable("$folder/$program")) {
                return "$folder/$program";
            }
        }

        return null;
    }

    /** @param callable(): self $make */
    private static function shared(string $name, callable $make): self
    {
        $server = self::$shared[$name] ?? null;
        if ($server === null || $server->owner !== getmypid()) {
            $server = $make();
            if (!in_array($server->driver(), PDO::getAvailableDrivers(), true)) {
                throw new RuntimeException("PDO has no driver {$server->driver()} here: run ./build.sh setup");
            }
            $server->start();
            self::$shared[$name] = $server;
            register_shutdown_function(static fn () => $server->stop());
        }

        return $server;
    }
}
