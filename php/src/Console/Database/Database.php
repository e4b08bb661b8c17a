<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue\Console\UsageException;
use DelayQueue\Database\Connection;
use DelayQueue\Database\Internal\PdoConnection;
use PDO;
use PDOException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** The application's database that the option --database points at. */
final class Database
{
    private const DRIVERS = ['pgsql' => 'PostgreSQL', 'mysql' => 'MySQL or MariaDB', 'sqlite' => 'SQLite'];

    /** Seconds: to connect, and of SQLite until another's lock is gone. */
    private const PATIENCE = 10;

    public static function describe(Command $command): void
    {
        $help = 'The database, by a PDO DSN such as "pgsql:host=localhost;dbname=shop"; else DELAYQUEUE_DATABASE. DELAYQUEUE_DATABASE_USER and _PASSWORD log in';
        $command->addOption('database', null, InputOption::VALUE_REQUIRED, $help);
    }

    /** @param InputInterface|string $input options, or a DSN that an option had */
    public function __construct(#[\SensitiveParameter] private readonly InputInterface|string $input)
    {
    }

    /**
     * Opened by its first statement, and again after an error.
     *
     * @param bool $make also makes the file of an SQLite database that is not there; otherwise its path may be mistyped
     *
     * @throws UsageException when the DSN is none
     */
    public function connection(bool $make = false): Connection
    {
        $driver = $this->driver();
        if (!class_exists(PDO::class) || !in_array($driver, PDO::getAvailableDrivers(), true)) {
            throw new UsageException('--database is for ' . self::DRIVERS[$driver] . ", and PHP does not load the extension pdo_$driver");
        }

        return PdoConnection::of(fn (): PDO => $this->open($driver, $make), $driver);
    }

    /**
     * @return 'pgsql'|'mysql'|'sqlite'
     *
     * @throws UsageException when the DSN is none; it may have a password, and is not shown
     */
    public function driver(): string
    {
        $driver = (string) strtok($this->dsn(), ':');

        return isset(self::DRIVERS[$driver]) ? $driver : throw new UsageException('--database must be a PDO DSN that begins with pgsql:, mysql: or sqlite:, such as "pgsql:host=localhost;dbname=shop"');
    }

    private function open(string $driver, bool $make): PDO
    {
        $dsn = $this->dsn();
        if ($driver === 'mysql' && !str_contains($dsn, 'charset=')) {
            $dsn .= ';charset=utf8mb4';
        }
        $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => self::PATIENCE];
        if ($driver === 'sqlite' && !$make) {
            // PHP 8.5 deprecates the old names.
            $constants = defined('Pdo\Sqlite::ATTR_OPEN_FLAGS') ? 'Pdo\Sqlite::' : 'PDO::SQLITE_';
            $options[constant("{$constants}ATTR_OPEN_FLAGS")] = constant("{$constants}OPEN_READWRITE");
        }
        try {
            return new PDO($dsn, self::environment('DELAYQUEUE_DATABASE_USER'), self::environment('DELAYQUEUE_DATABASE_PASSWORD'), $options);
        } catch (PDOException $error) {
            throw self::cannotOpen($error, $dsn);
        }
    }

    /** @throws UsageException when nobody names one */
    public function dsn(): string
    {
        return (is_string($this->input) ? $this->input : $this->input->getOption('database')) ?? self::environment('DELAYQUEUE_DATABASE')
            ?? throw new UsageException('which database? Give --database, a PDO DSN such as "pgsql:host=localhost;dbname=shop", or set DELAYQUEUE_DATABASE');
    }

    /**
     * Drivers repeat parts of a DSN that they cannot read, as they cut it. Nobody else can tell which part is one of its password: then their words
     * are left out, but for the codes.
     */
    private static function cannotOpen(PDOException $error, #[\SensitiveParameter] string $dsn): PDOException
    {
        $message = $error->getMessage();
        $words = preg_split('/[\s\'"\\\\]+/', (string) self::environment('DELAYQUEUE_DATABASE_PASSWORD'), -1, PREG_SPLIT_NO_EMPTY) ?: [];
        $isShown = array_filter($words, static fn (string $word): bool => str_contains($message, $word)) !== [];
        $isInDsn = preg_match('~passw|pwd|://.*@~is', $dsn) === 1;
        if ($isInDsn || $isShown) {
            $codes = preg_match('/^SQLSTATE\[\w+\](?: \[\d+\])?/', $message, $found) === 1 ? "$found[0]; " : '';
            $message = $codes . "the driver's words are left out, since they may have the password" . ($isInDsn ? ': give it by DELAYQUEUE_DATABASE_PASSWORD, not in the DSN, to see them' : '');
        }

        return new PDOException("cannot open the database: $message", (int) $error->getCode());
    }

    /** As the file of --bootstrap may have set it. */
    private static function environment(string $name): ?string
    {
        foreach ([getenv($name), $_ENV[$name] ?? null, $_SERVER[$name] ?? null] as $value) {
            if (is_string($value) && $value !== '') {
                return $value;
            }
        }

        return null;
    }
}
