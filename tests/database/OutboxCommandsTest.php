<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\NewJob;
use DelayQueue\Tests\Database\Support\DatabaseCliTestCase;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Wait;

/** delayqueue outbox:install, outbox:relay and outbox:status. */
final class OutboxCommandsTest extends DatabaseCliTestCase
{
    public function testTheyAreAboutAllQueues(): void
    {
        $this->useDatabase('sqlite');
        $this->outbox()->push($this->queueName, new NewJob(1));
        foreach (['outbox:relay' => 'a relay brings the rows of all queues', 'outbox:status' => 'it counts the rows of all queues'] as $command => $why) {
            $options = $command === 'outbox:relay' ? ['--once', '--after=0'] : [];
            $this->assertSame("delayqueue: give no --queue: $why\n", $this->cliExpecting(2, $command, '--queue=other', ...$options));
        }
        $this->assertSame(1, $this->rows());
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testInstallMakesTheTablesAndNeedsNoRedis(string $name): void
    {
        $this->useDatabase($name, install: false);
        $this->redis->kill();
        $this->assertSame("the tables delayqueue_outbox, delayqueue_source are there\n", $this->cliExpecting(0, 'outbox:install'));
        $source = $this->pdo()->query('select source from delayqueue_source')->fetchColumn();
        $this->assertSame("the tables delayqueue_outbox, delayqueue_source, delayqueue_jobs are there\n", $this->cliExpecting(0, 'outbox:install', '--jobs'));
        $this->assertSame($source, $this->pdo()->query('select source from delayqueue_source')->fetchColumn(), 'its receipts are still its own');
        $this->assertSame(0, $this->rows());
        $this->assertEquals(0, $this->pdo()->query('select count(*) from delayqueue_jobs')->fetchColumn());
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testInstallPrintsTheStatementsOfTheTablesAndAsksNoDatabase(string $name): void
    {
        $this->useDatabase($name, install: false);
        $sql = $this->cliExpecting(0, 'outbox:install', '--print', '--jobs', "--database={$this->server->driver()}:host=nowhere.invalid");
        foreach (explode(";\n", trim($sql)) as $statement) {
            $this->pdo()->exec($statement);
        }
        $this->outbox()->push($this->queueName, new NewJob(1));
        $this->assertSame(1, $this->rows());
        $this->assertStringNotContainsString('delayqueue_jobs', $this->cliExpecting(0, 'outbox:install', '--print', "--database={$this->server->driver()}:"));
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testOnceBringsAllRowsAndEnds(string $name): void
    {
        $this->useDatabase($name);
        $this->outbox()->pushMany($this->queueName, array_map(static fn (int $n): array => ['payload' => $n], range(1, 25)));
        $this->assertSame("0 moved\n", $this->cliExpecting(0, 'outbox:relay', '--once'));
        $this->assertSame(25, $this->rows(), 'they are younger than --after');
        $this->assertSame("25 moved\n", $this->cliExpecting(0, 'outbox:relay', '--once', '--after=0', '--batch=10'));
        $this->assertSame([0, 25], [$this->rows(), count($this->queue())]);
    }

    public function testTheQueuesOfTheRelayAreThoseOfTheCommandLine(): void
    {
        $this->useDatabase('sqlite');
        $keys = ['k1' => 'base64:' . base64_encode(str_repeat('a', 32))];
        $file = $this->file('keys', 'k1 ' . substr($keys['k1'], 7) . "\n");
        chmod($file, 0o600);
        $options = ['prefix' => 'shop', 'partitions' => 3, 'keys' => $keys];
        $ids = $this->outbox($options)->pushMany('orders', array_map(static fn (int $n): array => ['payload' => "secret $n"], range(1, 9)));

        $errors = $this->cliExpecting(1, 'outbox:relay', '--once', '--after=0', '--prefix=shop', '--partitions=3');
        $this->assertMatchesRegularExpression('/of queue orders, row .* and 8 more of the queue are tried again .*: its producer seals, and this relay has no keys/', $errors);
        $errors = $this->cliExpecting(1, 'outbox:relay', '--once', '--after=0', '--prefix=shop', "--keys-file=$file");
        $this->assertMatchesRegularExpression('/its producer knows of 3 partitions, and this relay of 1/', $errors);
        $this->assertSame(9, $this->rows());

        $this->cliExpecting(0, 'outbox:relay', '--once', '--after=0', '--prefix=shop', '--partitions=3', "--keys-file=$file", "--dsn={$this->redis->dsn()}");
        $queue = new DelayQueue('orders', $this->redis->dsn(), $options);
        $this->assertSame([0, 9, 'secret 4', 'k1'], [$this->rows(), count($queue), $queue->peek($ids[3])->payload, $queue->peek($ids[3])->seal['key']]);
        $errors = $this->cliExpecting(2, 'outbox:relay', '--once', '--keys-file=/nosuch');
        $this->assertSame("delayqueue: cannot read the keys file /nosuch\n", $errors);
    }

    public function testAQueueOfMorePartitionsThanTheRelayKnowsHoldsUpNoOther(): void
    {
        $this->useDatabase('sqlite');
        (new DelayQueue('wide', $this->redis->dsn(), ['partitions' => 4]))->pushMany(array_fill(0, 40, ['payload' => 1]));
        $this->outbox()->push('wide', new NewJob(1));
        $relay = $this->start('outbox:relay', '--after=0');
        $this->heard($relay, '/the rows of queue wide are tried again .*: queue wide has jobs in 4 partitions: give --partitions=4/');
        $this->outbox()->push('narrow', new NewJob(1));
        Wait::until(fn (): bool => count(new DelayQueue('narrow', $this->redis->dsn())) === 1, 20, 'another queue gets its job');
        $this->assertStringNotContainsString('the database has failed', $relay->errors());
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testASignalEndsTheRelay(string $name): void
    {
        $this->useDatabase($name);
        foreach ([SIGTERM, SIGINT] as $signal) {
            $relay = $this->start('outbox:relay', '--after=0');
            $this->heard($relay, '/relay \(process \d+\) is ready: rows of \w+ go to redis.*, prefix dq$/m');
            $this->outbox()->push($this->queueName, new NewJob(1));
            Wait::until(fn (): bool => $this->rows() === 0, 20, 'it works');
            $relay->signal($signal);
            $this->assertSame(0, $relay->exitCode(20));
            $this->assertStringEndsWith("relay (process $relay->pid) stopped\n", $relay->errors());
            $this->assertSame('', $relay->rest());
        }
        $this->assertSame(2, count($this->queue()));
    }

    public function testTheTimeLimitEndsTheRelay(): void
    {
        $this->useDatabase('sqlite');
        $this->cliExpecting(0, 'outbox:relay', '--time-limit=200ms');
    }

    public function testOnceSaysWhyRowsAreLeft(): void
    {
        $this->useDatabase('sqlite');
        $this->outbox()->push($this->queueName, new NewJob(1));
        $this->redis->kill();
        $errors = $this->cliExpecting(3, 'outbox:relay', '--once', '--after=0');
        $this->assertSame(1, preg_match_all('/the rows of queue \S+ are tried again .* cannot connect to/', $errors), $errors);
        $this->assertSame(1, $this->rows());
    }

    public function testAQueueThatFailsHoldsUpNoOtherOfOnce(): void
    {
        $this->useDatabase('sqlite');
        (new DelayQueue('wide', $this->redis->dsn(), ['partitions' => 4]))->pushMany(array_fill(0, 40, ['payload' => 1]));
        $this->outbox()->pushMany('wide', array_fill(0, 20, ['payload' => 1]));
        $this->outbox()->pushMany($this->queueName, array_fill(0, 20, ['payload' => 2]));
        $this->cliExpecting(2, 'outbox:relay', '--once', '--after=0', '--batch=5');
        $this->assertSame([20, 20], [$this->rows(), count($this->queue())]);
    }

    public function testABatchThatLocksTooManyRowsIsRefused(): void
    {
        $this->useDatabase('sqlite');
        $this->assertSame("delayqueue: --batch must be a whole number from 1 to 1000\n", $this->cliExpecting(2, 'outbox:relay', '--once', '--batch=1001'));
    }

    public function testARowThatCannotBeReadHoldsUpNoOther(): void
    {
        $this->useDatabase('sqlite');
        $this->outbox()->pushMany($this->queueName, [['payload' => 1], ['payload' => 2], ['payload' => 3]]);
        $this->pdo()->exec("update delayqueue_outbox set options = 'nonsense' where id = (select min(id) from delayqueue_outbox)");
        $errors = $this->cliExpecting(1, 'outbox:relay', '--once', '--after=0', '--batch=1');
        $this->assertMatchesRegularExpression('/row \S+, is tried again .*: its options are not JSON/', $errors);
        $this->assertSame([1, 2], [$this->rows(), count($this->queue())]);
    }

    public function testAnErrorThatStaysIsSaidOnceAMinute(): void
    {
        $this->useDatabase('sqlite');
        (new DelayQueue('wide', $this->redis->dsn(), ['partitions' => 4]))->pushMany(array_fill(0, 40, ['payload' => 1]));
        $this->outbox()->push('wide', new NewJob(1));
        $relay = $this->start('outbox:relay', '--after=0');
        $this->heard($relay, '/give --partitions=4/');
        foreach ([1, 2, 3] as $number) {
            // The row is tried again with each look, a second after the last one.
            $this->outbox()->push($this->queueName, new NewJob($number));
            Wait::until(fn (): bool => count($this->queue()) === $number, 20, 'the relay has looked again');
        }
        $this->assertSame(1, substr_count($relay->errors(), 'give --partitions=4'));
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testStatusTellsRowsAgeAndReceipts(string $name): void
    {
        $this->useDatabase($name);
        $this->assertSame(['rows' => 0, 'oldest' => null, 'receipts' => 0], $this->json('outbox:status', '--format=json', '--max-age=0'));
        $outbox = $this->outbox();
        $outbox->pushMany($this->queueName, [['payload' => 1], ['payload' => 2]]);
        $outbox->flush();
        $this->outbox()->push($this->queueName, new NewJob(3));
        $status = $this->json('outbox:status', '--format=json', '--max-age=1h');
        $this->assertSame([3, 2], [$status['rows'], $status['receipts']]);
        $this->assertGreaterThan(0.0, $status['oldest']);
        $result = $this->cli('outbox:status', '--max-age=0');
        $this->assertSame(1, $result->exitCode, $result->errors);
        $this->assertMatchesRegularExpression("/^rows      3\noldest    \\S.*\nreceipts  2\n$/D", $result->output);

        $this->redis->kill();
        $this->assertMatchesRegularExpression('/^receipts  unknown: .*cannot connect/m', $this->cliExpecting(0, 'outbox:status'));
        $this->assertNull($this->json('outbox:status', '--format=json')['receipts']);
    }

    public function testAPhpWithoutTheDriverSaysSo(): void
    {
        $folder = "{$this->redis->folder->path}/php.d";
        mkdir($folder);
        file_put_contents("$folder/delayqueue.ini", 'extension=' . Php::extension() . "\n");
        foreach (['pgsql' => 'PostgreSQL', 'mysql' => 'MySQL or MariaDB', 'sqlite' => 'SQLite'] as $driver => $name) {
            $result = $this->finish($this->startWith(['PHP_INI_SCAN_DIR' => $folder], 'outbox:status', "--database=$driver:"));
            $this->assertSame([2, "delayqueue: --database is for $name, and PHP does not load the extension pdo_$driver\n"], [$result->exitCode, $result->errors]);
        }
    }

    public function testTheEnvironmentOfABootstrapFileNamesTheDatabase(): void
    {
        $this->useDatabase('sqlite');
        $boot = $this->file('boot.php', '<?php $_SERVER["DELAYQUEUE_DATABASE"] = ' . var_export($this->server->dsn($this->database), true) . ';');
        $pool = $this->startWith(['DELAYQUEUE_DATABASE' => ''], 'work', self::HANDLER, '--relay', "--bootstrap=$boot");
        $this->heard($pool, '/relay \(process \d+\) is ready/');
        $pool->signal(SIGTERM);
        $this->assertSame(0, $pool->exitCode(20), $pool->errors());
    }

    public function testWrongUsageIsOneLineAndExitCode2(): void
    {
        $this->assertSame(
            "delayqueue: which database? Give --database, a PDO DSN such as \"pgsql:host=localhost;dbname=shop\", or set DELAYQUEUE_DATABASE\n",
            $this->cliExpecting(2, 'outbox:status'),
        );
        foreach (['postgresql://shop:open-sesame@localhost/shop', 'oci:password=open-sesame', 'open-sesame'] as $dsn) {
            $this->assertSame(
                "delayqueue: --database must be a PDO DSN that begins with pgsql:, mysql: or sqlite:, such as \"pgsql:host=localhost;dbname=shop\"\n",
                $this->cliExpecting(2, 'outbox:install', "--database=$dsn"),
            );
        }
        foreach (['--after=soon' => '--after must be a duration', '--batch=0' => '--batch must be a whole number', '--time-limit=' => '--time-limit must be'] as $option => $why) {
            $this->assertStringStartsWith("delayqueue: $why", $this->cliExpecting(2, 'outbox:relay', '--database=sqlite::memory:', $option));
        }
    }
}
