<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\Database\Inbox;
use DelayQueue\Database\Schema;
use DelayQueue\Database\SchemaException;
use DelayQueue\JobInterface;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\DatabaseTestCase;
use DelayQueue\Tests\Support\Process;
use LogicException;
use PDO;
use PDOException;
use RuntimeException;
use ValueError;

/** The effect of a job once. */
final class InboxTest extends DatabaseTestCase
{
    private string $name;

    private string $database;

    private PDO $pdo;

    /** @dataProvider connections */
    #[\PHPUnit\Framework\Attributes\DataProvider('connections')]
    public function testASecondDeliveryHasNoEffect(string $name, bool $foundRows): void
    {
        $this->prepare($name);
        $options = $foundRows ? [PDO::MYSQL_ATTR_FOUND_ROWS => true] : [];
        $pdo = new PDO(self::database($name)->dsn($this->database), self::database($name)->user(), self::database($name)->password(), $options);
        $inbox = new Inbox($pdo);
        $job = self::job('order-1');

        $this->assertTrue($inbox->once($job, $this->effect(...)));
        $this->assertFalse($inbox->once($job, $this->effect(...)));
        $this->assertTrue($inbox->once(self::job('order-2'), $this->effect(...)));
        $this->assertSame(2, $this->effects());
        $this->assertFalse($pdo->inTransaction());
        $row = $this->pdo->query("select * from delayqueue_jobs where job = 'order-1'")->fetch(PDO::FETCH_ASSOC);
        $this->assertSame('done', $row['state']);
        $this->assertSame(1, (int) $row['attempts']);
        $this->assertNotNull($row['ended']);
    }

    /** @dataProvider connections */
    #[\PHPUnit\Framework\Attributes\DataProvider('connections')]
    public function testOnlyAJobThatIsDoneOrCancelledIsOver(string $name, bool $foundRows): void
    {
        $this->prepare($name);
        $options = $foundRows ? [PDO::MYSQL_ATTR_FOUND_ROWS => true] : [];
        $inbox = new Inbox(new PDO(self::database($name)->dsn($this->database), self::database($name)->user(), self::database($name)->password(), $options));
        foreach (['waiting' => true, 'released' => true, 'buried' => true, 'gone' => true, 'done' => false, 'cancelled' => false] as $state => $runs) {
            $job = self::job($state);
            $this->pdo->prepare('insert into delayqueue_jobs (queue, job, made, state, ended) values (?, ?, ?, ?, ?)')
                ->execute(['orders', $state, (int) round($job->createdAt * 1000), $state, in_array($state, ['gone', 'done', 'cancelled'], true) ? 1 : null]);
            $this->assertSame($runs, $inbox->once($job, $this->effect(...)), $state);
            $this->assertFalse($inbox->once($job, $this->effect(...)), $state);
        }
        $this->assertSame(4, $this->effects());
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testANewJobOfAnOldIdIsAnotherJob(string $name): void
    {
        $inbox = $this->prepare($name);
        $this->assertTrue($inbox->once(self::job('order-1'), $this->effect(...)));
        // The milliseconds of createdAt tell them apart.
        usleep(2000);
        $this->assertTrue($inbox->once(self::job('order-1'), $this->effect(...)));
        $this->assertSame(2, $this->effects());
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAnExceptionOfTheWorkRollsItBackAndPassesThrough(string $name): void
    {
        $inbox = $this->prepare($name);
        $job = self::job('order-1');
        $error = new RuntimeException('no stock');
        try {
            $inbox->once($job, function (PDO $pdo) use ($error): void {
                $this->effect($pdo);
                throw $error;
            });
            $this->fail('it went well');
        } catch (RuntimeException $caught) {
            $this->assertSame($error, $caught);
        }
        $this->assertSame(0, $this->effects());
        $this->assertTrue($inbox->once($job, $this->effect(...)));
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testAnEffectThatTheDatabaseHasDroppedIsNoSuccess(string $name): void
    {
        $inbox = $this->prepare($name);
        $job = self::job('order-1');
        $this->pdo->exec('insert into stock (id, n) values (1, 0)');
        $work = function (PDO $pdo): void {
            $this->effect($pdo);
            try {
                $pdo->exec('insert into stock (id, n) values (1, 0)');
            } catch (PDOException) {
            }
        };
        try {
            $said = $inbox->once($job, $work);
        } catch (PDOException $error) {
            $said = $error->getCode();
        }
        // Only PostgreSQL drops a transaction for that, and takes its COMMIT all the same.
        $this->assertSame($name === 'postgresql' ? ['25P02', 0, 0] : [true, 1, 1], [$said, $this->effects(), (int) $this->pdo->query('select count(*) from delayqueue_jobs')->fetchColumn()]);
        $this->assertSame($name === 'postgresql', $inbox->once($job, $this->effect(...)));
        $this->assertSame(1, $this->effects());
    }

    /** @dataProvider twins */
    #[\PHPUnit\Framework\Attributes\DataProvider('twins')]
    public function testATwinWaitsForTheFirstDelivery(string $name, string $end, string $first, string $second): void
    {
        $this->prepare($name);
        $createdAt = microtime(true);
        $one = $this->deliver('order-1', $createdAt, 'insert into effects (n) values (1)');
        $this->assertSame('working', $one->line());
        $other = $this->deliver('order-1', $createdAt, 'insert into effects (n) values (1)');
        // A twin that does not wait says so at once.
        usleep(300_000);
        $this->assertSame('', $other->said());
        $one->say($end);
        $one->hear($first);
        if ($second === 'true') {
            $other->hear('working');
            $other->say('go');
        }
        $other->hear($second);
        $this->assertSame(1, $this->effects());
    }

    /** @return iterable<string, array{string, string, string, string}> */
    public static function twins(): iterable
    {
        foreach (self::dialects() as $name => $_) {
            yield "$name, committed" => [$name, 'go', 'true', 'false'];
            yield "$name, rolled back" => [$name, 'throw', 'RuntimeException no stock', 'true'];
        }
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testADeadlockPassesThroughAndTheJobMayRunAgain(string $name): void
    {
        $this->prepare($name);
        $this->pdo->exec('insert into stock (id, n) values (1, 0), (2, 0)');
        $update = static fn (int $id): string => "update stock set n = n + 1 where id = $id";
        $programs = [
            $this->deliver('order-1', 1.5, $update(1), $update(2)),
            $this->deliver('order-2', 1.5, $update(2), $update(1)),
        ];
        foreach ($programs as $program) {
            $program->hear('working');
            $program->say('go');
            $program->hear('did it');
        }
        $programs[0]->say('go');
        $programs[1]->say('go');
        $said = [];
        foreach ($programs as $number => $program) {
            do {
                $said[$number] = $program->line();
            } while ($said[$number] === 'did it');
        }
        sort($said);
        $this->assertStringContainsString('eadlock', $said[0]);
        $this->assertStringStartsWith('PDOException', $said[0]);
        $this->assertSame('true', $said[1]);
        $this->assertEquals(1, $this->pdo->query("select count(*) from delayqueue_jobs where state = 'done'")->fetchColumn());
        $this->assertEquals(2, $this->pdo->query('select sum(n) from stock')->fetchColumn());
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testALockThatTakesTooLongPassesThrough(string $name): void
    {
        $inbox = $this->prepare($name);
        $job = self::job('order-1');
        $this->pdo->exec(['pgsql' => "set lock_timeout = '200ms'", 'mysql' => 'set innodb_lock_wait_timeout = 1', 'sqlite' => 'pragma busy_timeout = 100'][self::database($name)->driver()]);
        $twin = $this->deliver('order-1', $job->createdAt, 'select 1');
        $twin->hear('working');
        try {
            $inbox->once($job, $this->effect(...));
            $this->fail('it did not wait');
        } catch (PDOException $error) {
            $this->assertMatchesRegularExpression('/55P03|1205|locked/', $error->getMessage());
        }
        $this->assertFalse($this->pdo->inTransaction());
        $twin->say('throw');
        $twin->hear('RuntimeException no stock');
        $this->assertTrue($inbox->once($job, $this->effect(...)));
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAnOpenTransactionIsRefused(string $name): void
    {
        $inbox = $this->prepare($name);
        $this->pdo->beginTransaction();
        try {
            $inbox->once(self::job('order-1'), $this->effect(...));
            $this->fail('it worked');
        } catch (LogicException $error) {
            $this->assertStringContainsString('one is open', $error->getMessage());
        }
        $this->pdo->rollBack();
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testAMissingTableIsNamedWithItsCure(string $name): void
    {
        $inbox = $this->prepare($name);
        $this->pdo->exec('drop table delayqueue_jobs');
        $this->expectException(SchemaException::class);
        $this->expectExceptionMessage('outbox:install --jobs');
        $inbox->once(self::job('order-1'), $this->effect(...));
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAMissingTableOfTheWorkIsNotTheInboxs(string $name): void
    {
        $inbox = $this->prepare($name);
        $this->expectException(PDOException::class);
        $inbox->once(self::job('order-1'), static fn (PDO $pdo) => $pdo->exec('insert into nowhere (n) values (1)'));
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testAConnectionThatWasLostIsOpenedAgain(string $name): void
    {
        $this->prepare($name);
        $inbox = new Inbox(fn (): PDO => self::database($name)->pdo($this->database));
        $this->assertTrue($inbox->once(self::job('order-1'), $this->effect(...)));
        self::database($name)->restart();
        try {
            $inbox->once(self::job('order-2'), $this->effect(...));
            $this->fail('the connection was not lost');
        } catch (PDOException) {
            $this->assertTrue($inbox->once(self::job('order-2'), $this->effect(...)));
        }
        self::database($name)->restart();
        try {
            $inbox->once(self::job('order-3'), static fn (PDO $pdo) => self::database($name)->restart());
            $this->fail('the connection was not lost');
        } catch (PDOException) {
            $this->assertTrue($inbox->once(self::job('order-3'), $this->effect(...)));
        }
    }

    public function testAnIdThatIsNotUtf8IsRefused(): void
    {
        $inbox = $this->prepare('sqlite');
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage('UTF-8');
        $inbox->once(self::job("order-\xff"), $this->effect(...));
    }

    /** @return iterable<string, array{string, bool}> */
    public static function connections(): iterable
    {
        foreach (self::dialects() as $name => $_) {
            yield $name => [$name, false];
            if (in_array($name, ['mariadb', 'mysql'], true)) {
                yield "$name that counts the rows it found" => [$name, true];
            }
        }
    }

    protected function setUp(): void
    {
        RedisServer::shared()->flush();
    }

    private function prepare(string $name): Inbox
    {
        $this->name = $name;
        $this->database = self::database($name)->fresh();
        $this->pdo = self::database($name)->pdo($this->database);
        Schema::install($this->pdo, jobs: true);
        $this->pdo->exec('create table effects (n integer)');
        $this->pdo->exec('create table stock (id integer primary key, n integer)');

        return new Inbox($this->pdo);
    }

    private function effect(PDO $pdo): void
    {
        $pdo->exec('insert into effects (n) values (1)');
    }

    private function effects(): int
    {
        return (int) $this->pdo->query('select count(*) from effects')->fetchColumn();
    }

    private static function job(string $id): JobInterface
    {
        $queue = new DelayQueue('orders', RedisServer::shared()->dsn());
        $queue->cancel($id);
        $queue->push(null, id: $id);

        return $queue->reserveJob($id);
    }

    private function deliver(string $id, float $createdAt, string ...$statements): Process
    {
        $server = self::database($this->name);
        $command = [PHP_BINARY, '-d', 'delayqueue.testing=1', __DIR__ . '/programs/once.php', $server->dsn($this->database)];

        return new Process([...$command, (string) $server->user(), (string) $server->password(), $id, sprintf('%.3F', $createdAt), ...$statements]);
    }
}
