<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue\Tests\Database\Support\DatabaseServer;
use DelayQueue\Tests\Database\Support\DatabaseTestCase;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PDO;
use PDOException;

/**
 * The servers on which the other tests run: private, durable, gone at the end.
 *
 * @group verify
 */
#[\PHPUnit\Framework\Attributes\Group('verify')]
final class ServersTest extends DatabaseTestCase
{
    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testItIsTheDatabaseOfItsName(string $name): void
    {
        $server = self::database($name);
        $this->assertSame($name, $server->name());
        $pdo = $server->pdo();
        $this->assertSame($server->driver(), $pdo->getAttribute(PDO::ATTR_DRIVER_NAME));
        $version = (string) $pdo->query($name === 'sqlite' ? 'SELECT sqlite_version()' : 'SELECT version()')->fetchColumn();
        $this->assertMatchesRegularExpression(
            ['postgresql' => '/^PostgreSQL 1\d/', 'mariadb' => '/^1\d.*MariaDB/', 'mysql' => '/^[89]\.[\d.]+(-(?!.*MariaDB).*)?$/', 'sqlite' => '/^3\./'][$name],
            $version,
        );
        $this->assertSame($server, self::database($name), 'one for the process');
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testItsCommitsAreAsDurableAsThoseOfUsers(string $name): void
    {
        $pdo = self::database($name)->pdo();
        [$ask, $durable] = match ($name) {
            'postgresql' => ["SELECT concat_ws(' ', current_setting('fsync'), current_setting('synchronous_commit'), current_setting('full_page_writes'))", 'on on on'],
            'sqlite' => ["SELECT synchronous || ' ' || journal_mode FROM pragma_synchronous, pragma_journal_mode", '2 wal'],
            default => ["SELECT concat_ws(' ', @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite)", '1 ON'],
        };
        $this->assertSame($durable, (string) $pdo->query($ask)->fetchColumn());
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testItHasNothingOfTheSystem(string $name): void
    {
        $server = self::database($name);
        $admin = $server->admin();
        $folder = $server->folder();
        if ($server->driver() === 'pgsql') {
            $this->assertSame("$folder/data", $admin->query('SHOW data_directory')->fetchColumn());
            $this->assertSame("$folder/data/postgresql.conf", $admin->query('SHOW config_file')->fetchColumn());
            $this->assertSame('', $admin->query('SHOW listen_addresses')->fetchColumn());
        } else {
            $this->assertSame("$folder/data/", $admin->query('SELECT @@datadir')->fetchColumn());
            $this->assertEquals(1, $admin->query('SELECT @@skip_networking')->fetchColumn());
        }
        $this->assertNotSame(0, fileowner("/proc/{$server->pid()}"), 'never as root');
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testItsUserIsNoAdministratorAndHasAPassword(string $name): void
    {
        $server = self::database($name);
        try {
            $server->pdo()->exec("CREATE USER another");
            $this->fail('the user could make users');
        } catch (PDOException $e) {
            $this->assertMatchesRegularExpression('/denied/', $e->getMessage());
        }
        $this->expectException(PDOException::class);
        new PDO($server->dsn(), $server->user(), 'wrong');
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testFreshDatabasesAreEmptyAndDroppedAfterTheTest(string $name): void
    {
        $server = self::database($name);
        [$one, $other] = [$server->fresh(), $server->fresh()];
        foreach ([$one, $other] as $database) {
            $server->pdo($database)->exec('CREATE TABLE orders (id bigint)');
        }
        $open = $server->pdo($one);
        $open->exec('INSERT INTO orders VALUES (4711)');
        $this->assertEquals(0, $server->pdo($other)->query('SELECT count(*) FROM orders')->fetchColumn());

        DatabaseServer::dropAll();
        $this->expectException(PDOException::class);
        $server->pdo($one)->query('SELECT count(*) FROM orders');
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testCommittedRowsOutliveACrash(string $name): void
    {
        $server = self::database($name);
        $database = $server->fresh();
        $pdo = $server->pdo($database);
        $pdo->exec('CREATE TABLE orders (id bigint)');
        $pdo->exec('INSERT INTO orders VALUES (1)');
        $server->kill();
        $server->restart();
        $server->pdo($database)->exec('INSERT INTO orders VALUES (2)');
        $server->restart();
        $this->assertEquals(2, $server->pdo($database)->query('SELECT count(*) FROM orders')->fetchColumn());
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testItsCpuTimeGrowsWithItsWork(string $name): void
    {
        $server = self::database($name);
        $pdo = $server->pdo();
        [$before, $began] = [$server->cpu(), hrtime(true)];
        for ($i = 0; $i < 500; ++$i) {
            $pdo->query("SELECT $i")->fetchAll();
        }
        $this->assertGreaterThan(0, $before);
        $this->assertGreaterThan($before + 1000, $server->cpu());
        $this->assertLessThan($before + (hrtime(true) - $began) / 1000 * 8, $server->cpu());
    }

    /** @dataProvider ends */
    #[\PHPUnit\Framework\Attributes\DataProvider('ends')]
    public function testItIsGoneAfterItsProcessWasKilled(string $name, ?int $signal): void
    {
        [$program, $server] = $this->start($name);
        if ($signal !== null) {
            posix_kill($server['pid'], $signal);
        }
        $program->kill();
        $this->assertGone($server);
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testItIsGoneWhenItsProcessIsKilledDuringTheStart(string $name): void
    {
        $program = new Process([PHP_BINARY, __DIR__ . '/programs/server.php', $name]);
        $folder = Wait::until(static function () use ($program): ?string {
            $supervisor = trim((string) @file_get_contents("/proc/$program->pid/task/$program->pid/children"));
            preg_match('~/var/tmp/delayqueue-\w+~', (string) @file_get_contents("/proc/$supervisor/cmdline"), $found);

            return is_dir(($found[0] ?? '') . '/data') ? $found[0] : null;
        }, 30, 'the making of the data');
        $program->kill();
        $this->assertGone(['pid' => null, 'folder' => $folder]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAForkedChildLeavesItToItsParent(string $name): void
    {
        [$program, $server] = $this->start($name);
        $program->say('fork');
        $this->assertSame('4711', $program->line());
        $program->endInput();
        $this->assertSame(0, $program->exitCode(), $program->errors());
        $this->assertGone($server);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAnUnprivilegedUserCanStartIt(string $name): void
    {
        // That user may not read the folders above this one.
        $copy = new Folder();
        foreach ([...glob(__DIR__ . '/support/*.php'), __DIR__ . '/programs/server.php'] as $file) {
            copy($file, "$copy->path/" . basename($file));
        }
        chmod($copy->path, 0o755);
        $as = posix_geteuid() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'] : [];
        $environment = array_diff_key(getenv(), ['PHP_INI_SCAN_DIR' => true]);
        $program = new Process([...$as, PHP_BINARY, "$copy->path/server.php", $name, $copy->path], $environment);
        $server = json_decode($program->line(60), true);
        $program->say('ask');
        $this->assertSame('4711', $program->line());
        $this->assertNotSame(0, fileowner($server['folder']));
        $program->endInput();
        $this->assertSame(0, $program->exitCode(), $program->errors());
        $this->assertGone($server);
        $copy->remove();
    }

    /** @return iterable<string, array{string, ?int}> what a test may have done to the server before */
    public static function ends(): iterable
    {
        yield 'sqlite' => ['sqlite', null];
        foreach (self::servers() as $name => $_) {
            yield $name => [$name, null];
            yield "$name, killed" => [$name, SIGKILL];
            yield "$name, frozen" => [$name, SIGSTOP];
        }
    }

    /** @return array{Process, array{pid: ?int, folder: string}} */
    private function start(string $name): array
    {
        $program = new Process([PHP_BINARY, __DIR__ . '/programs/server.php', $name]);

        return [$program, json_decode($program->line(60), true)];
    }

    /** @param array{pid: ?int, folder: string} $server */
    private function assertGone(array $server): void
    {
        ['pid' => $pid, 'folder' => $folder] = $server;
        Wait::until(static function () use ($pid, $folder): bool {
            clearstatcache();

            return !file_exists($folder) && ($pid === null || !posix_kill($pid, 0));
        }, 30, "the end of $folder and its server $pid");
        $left = [];
        foreach (glob('/proc/[0-9]*/cwd') ?: [] as $cwd) {
            if (str_starts_with((string) @readlink($cwd), $folder)) {
                $left[] = $cwd;
            }
        }
        $this->assertSame([], $left);
    }
}
