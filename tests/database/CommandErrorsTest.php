<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue\Console\Failure;
use DelayQueue\NewJob;
use DelayQueue\Tests\Database\Support\DatabaseCliTestCase;
use PDOException;

/** Of a database that does not do what they need, the commands say so: one line, exit code 5, no password. */
final class CommandErrorsTest extends DatabaseCliTestCase
{
    private const LEFT_OUT = "the driver's words are left out, since they may have the password: give it by DELAYQUEUE_DATABASE_PASSWORD, not in the DSN, to see them";

    private const COMMANDS = [['outbox:relay'], ['outbox:relay', '--once'], ['outbox:status']];

    /** @dataProvider unreachable */
    #[\PHPUnit\Framework\Attributes\DataProvider('unreachable')]
    public function testADatabaseThatCannotBeReached(string $dsn, string $why): void
    {
        foreach ([...self::COMMANDS, ['outbox:install']] as $command) {
            $this->assertRefused("/^delayqueue: cannot open the database: $why\n$/D", ...[...$command, "--database=$dsn", '-v']);
        }
    }

    /** @return array<string, array{string, string}> */
    public static function unreachable(): array
    {
        return [
            'PostgreSQL is away' => ['pgsql:host=127.0.0.1;port=1;dbname=shop;user=shop', 'SQLSTATE\[08006\] .*Connection refused.*'],
            'MariaDB is away' => ['mysql:host=127.0.0.1;port=1;dbname=shop', 'SQLSTATE\[HY000\] \[2002\] Connection refused'],
            'PostgreSQL, with a password' => ['pgsql:host=127.0.0.1;port=1;user=shop;password=open-sesame', 'SQLSTATE\[08006\] \[7\]; ' . self::LEFT_OUT],
            'MariaDB, with a password' => ['mysql:host=127.0.0.1;port=1;password=open-sesame', 'SQLSTATE\[HY000\] \[2002\]; ' . self::LEFT_OUT],
            'a password with a slash' => ['pgsql:postgresql://shop:sesame/open@127.0.0.1:1/shop', 'SQLSTATE\[08006\] \[7\]; ' . self::LEFT_OUT],
            'a password with an @' => ['pgsql:postgresql://shop:open@sesame@127.0.0.1:1/shop', 'SQLSTATE\[08006\] \[7\]; ' . self::LEFT_OUT],
            'a password with a semicolon' => ['pgsql:host=127.0.0.1;password=open;sesame', 'SQLSTATE\[08006\] \[7\]; ' . self::LEFT_OUT],
            'a password with a blank' => ['pgsql:host=127.0.0.1;password=open sesame', 'SQLSTATE\[08006\] \[7\]; ' . self::LEFT_OUT],
            'a folder that is not there' => ['sqlite:/nosuch/shop.db', 'SQLSTATE\[HY000\] \[14\] unable to open database file'],
        ];
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testAWrongPassword(string $name): void
    {
        $this->useDatabase($name);
        foreach (self::COMMANDS as $command) {
            $process = $this->startWith(['DELAYQUEUE_DATABASE_PASSWORD' => 'open-says-me'], ...$command);
            $this->assertSame(5, $process->exitCode(20));
            $this->assertMatchesRegularExpression('/^delayqueue: cannot open the database: SQLSTATE.*(authentication failed|Access denied).*\n$/D', $process->errors());
            $this->assertStringNotContainsString('open-says-me', $process->errors());
        }
    }

    public function testAQuoteThatIsNotClosedShowsNoPasswordOfTheEnvironment(): void
    {
        $process = $this->startWith(['DELAYQUEUE_DATABASE_USER' => '', 'DELAYQUEUE_DATABASE_PASSWORD' => 'open-sesame'], 'outbox:status', "--database=pgsql:host=127.0.0.1;dbname='shop");
        $this->assertSame(5, $process->exitCode(20));
        $this->assertStringContainsString("the driver's words are left out, since they may have the password", $process->errors());
        $this->assertStringNotContainsString('sesame', $process->errors());
    }

    public function testAnSqliteFileIsMadeByInstallAlone(): void
    {
        $file = "{$this->redis->folder->path}/shop.db";
        $this->assertRefused('/unable to open database file/', 'outbox:status', "--database=sqlite:$file");
        $this->assertFileDoesNotExist($file);
        $this->cliExpecting(0, 'outbox:install', "--database=sqlite:$file");
        $this->cliExpecting(0, 'outbox:status', "--database=sqlite:$file");
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testATableThatIsMissing(string $name): void
    {
        $this->useDatabase($name, install: false);
        foreach (self::COMMANDS as $command) {
            $this->assertRefused('/^delayqueue: a table .* is missing .*: run "delayqueue outbox:install".*delayqueue_source/', ...$command);
        }
        $this->cliExpecting(0, 'outbox:install');
        $this->pdo()->exec('drop table delayqueue_outbox');
        foreach (self::COMMANDS as $command) {
            $this->assertRefused('/^delayqueue: a table .*delayqueue_outbox/m', ...$command);
        }
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testATableThatLacksAColumn(string $name): void
    {
        $this->useDatabase($name);
        foreach (['delayqueue_outbox' => ['outbox:relay', '--once'], 'delayqueue_jobs' => ['journal:list']] as $table => $command) {
            $this->pdo()->exec("alter table $table drop column options");
            $this->pdo()->exec("alter table $table drop column due");
            $this->assertRefused('/^delayqueue: a table .* of another version: run "delayqueue outbox:install"/', ...$command);
        }
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testTablesOfAnotherVersion(string $name): void
    {
        $this->useDatabase($name);
        foreach ([99 => 'update the package delayqueue\/delayqueue', 0 => 'change them as the changelog of the package says'] as $version => $cure) {
            $this->pdo()->exec("update delayqueue_source set version = $version");
            foreach ([...self::COMMANDS, ['outbox:install']] as $command) {
                $this->assertRefused("/^delayqueue: the tables of the outbox are of version $version, and this package knows 1: $cure\n$/D", ...$command);
            }
        }
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testADatabaseThatMayOnlyBeRead(string $name): void
    {
        $this->useDatabase($name);
        $this->outbox()->push($this->queueName, new NewJob(1));
        $options = [];
        if ($name === 'postgresql') {
            $this->server->admin('postgres')->exec("alter database $this->database set default_transaction_read_only = on");
        } elseif ($name === 'sqlite') {
            $this->pdo()->exec('pragma journal_mode = delete');
            $options = ["--database=sqlite:file:" . substr($this->server->dsn($this->database), strlen('sqlite:')) . '?mode=ro'];
        } else {
            $this->server->admin()->exec('set global read_only = 1');
        }
        try {
            $this->cliExpecting(0, 'outbox:status', ...$options);
            $errors = $this->assertRefused('/^delayqueue: SQLSTATE.*read-?only/m', 'outbox:relay', '--once', '--after=0', ...$options);
            $this->assertLessThanOrEqual(1, substr_count($errors, 'delayqueue: '));
        } finally {
            $this->server->driver() === 'mysql' && $this->server->admin()->exec('set global read_only = 0');
        }
        if ($name === 'postgresql') {
            $this->server->admin('postgres')->exec("alter database $this->database set default_transaction_read_only = off");
        }
        $this->cliExpecting(0, 'outbox:relay', '--once', '--after=0');
        $this->assertSame([0, 1], [$this->rows(), count($this->queue())], 'the job is there once');
    }

    /** @dataProvider texts */
    #[\PHPUnit\Framework\Attributes\DataProvider('texts')]
    public function testNoErrorShowsAPassword(string $text, string $shown): void
    {
        $this->assertSame($shown, Failure::line(new PDOException($text)));
    }

    /** @return array<string, array{string, string}> */
    public static function texts(): array
    {
        return [
            'a DSN' => ['cannot open mysql:host=db;password=open sesame;dbname=shop', 'cannot open mysql:host=db;password=***;dbname=shop'],
            'at its end' => ["pgsql:host=db;password='open \"sesame\"'", 'pgsql:host=db;password=***'],
            'with a semicolon' => ['mysql:password=open;;sesame;host=db', 'mysql:password=***;host=db'],
            'conninfo' => ["host=db password='open sesame' dbname=shop", 'host=db password=*** dbname=shop'],
            'two of them' => ['pgsql:password=open, or mysql:password=sesame', 'pgsql:password=***'],
            'as before' => ['redis://h:1/0?password=sesame&db=1', 'redis://h:1/0?password=***&db=1'],
        ];
    }

    private function assertRefused(string $pattern, string ...$arguments): string
    {
        $errors = $this->cliExpecting(5, ...$arguments);
        $line = implode("\n", array_slice(explode("\n", $errors), 0, in_array('-v', $arguments, true) ? 1 : null)) . (in_array('-v', $arguments, true) ? "\n" : '');
        $this->assertMatchesRegularExpression($pattern, $line);
        $this->assertStringNotContainsString('sesame', $errors);

        return $errors;
    }
}
