<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\ConnectionException;
use DelayQueue\Database\SchemaException;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use DelayQueue\Tests\Support\Process;
use Illuminate\Database\QueryException;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;

/** Jobs of transactions, on each database. */
final class OutboxDatabasesTest extends OutboxTestCase
{
    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAJobOfACommittedTransactionArrivesAtOnceAndOnlyOnce(string $database): void
    {
        $this->bootOutbox($database);
        $id = $this->shop()->transaction(function (): string {
            $this->order('tea');
            $id = $this->queue()->push(new Deed('close tea'));
            $this->assertSame([1, 0], [$this->rows(), $this->arrived()]);

            return $id;
        });
        $this->assertSame($id, $this->delayQueue()->peekReady()->id);
        $this->relay();
        $this->assertSame([0, 1, ['close tea']], [$this->rows(), $this->arrived(), $this->names()]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAJobOfATransactionThatIsRolledBackNeverArrives(string $database): void
    {
        $this->bootOutbox($database);
        try {
            $this->shop()->transaction(function (): void {
                $this->order('tea');
                Deed::dispatch('close tea');
                throw new RuntimeException('no stock');
            });
        } catch (RuntimeException) {
        }
        $this->shop()->transaction(fn () => $this->order('coffee'));
        $this->relay();
        $this->assertSame([0, 0], [$this->rows(), $this->arrived()]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testASavepointThatIsRolledBackTakesItsJobsWithIt(string $database): void
    {
        $this->bootOutbox($database);
        $this->shop()->transaction(function (): void {
            Deed::dispatch('outer');
            $this->shop()->transaction(fn () => $this->queue()->push(new Deed('inner')));
            $this->shop()->beginTransaction();
            Deed::dispatch('never');
            $this->shop()->rollBack();
            $this->assertSame(0, $this->arrived());
        });
        $this->assertSame(['outer', 'inner'], $this->names());
        $this->relay();
        $this->assertSame([0, ['outer', 'inner']], [$this->rows(), $this->names()]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testTheRelayBringsTheJobOfAProcessThatDiedBetweenCommitAndPush(string $database): void
    {
        $this->bootOutbox($database);
        $process = new Process([PHP_BINARY, __DIR__ . '/app/killed.php']);
        $process->exitCode(20);
        $this->assertSame([1, 0], [$this->rows(), $this->arrived()]);
        $this->assertSame('tea', $this->shop()->select('select name from orders')[0]->name);
        $this->relay();
        $this->assertSame([0, ['close tea']], [$this->rows(), $this->names()]);
        $this->relay();
        $this->assertSame(1, $this->arrived());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testWhileRedisIsAwayJobsAreRowsThatArriveLaterAndOnce(string $database): void
    {
        $this->bootOutbox($database);
        $this->bootWithoutRedis();
        $id = $this->queue()->later(60, new Deed('outside'));
        $this->shop()->transaction(fn () => $this->queue()->push(new Deed('inside')));
        $many = array_map(static fn (int $n): string => "many $n", range(1, 9));
        $this->queue()->bulk(array_map(static fn (string $name): Deed => new Deed($name), $many));
        $this->assertSame(11, $this->rows());
        $this->assertStringContainsString('are tried again in', $this->relay(1));

        $this->bootWithOutbox();
        $this->relay();
        $this->relay();
        $this->assertSame(0, $this->rows());
        $this->assertSame(['inside', ...$many, 'outside'], $this->names());
        $this->assertEqualsWithDelta(microtime(true) + 60, $this->queue()->find($id)->dueAt, 15);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testACancelledJobIsGoneAtTheCommitAlsoWhereItIsARow(string $database): void
    {
        $this->bootOutbox($database);
        // A process names a queue to Redis once in a minute, so each database has its own.
        Deed::dispatch('in Redis')->delay(60)->identifiedBy('a')->onQueue("orders of $database");
        $this->shop()->beginTransaction();
        $this->assertSame(1, DelayQueue::cancel('a'));
        $this->assertNotNull($this->queue()->find('a'));
        $this->shop()->rollBack();
        $this->assertNotNull($this->queue()->find('a'));
        $this->shop()->transaction(fn () => $this->assertSame(1, DelayQueue::cancel('a')));
        $this->assertNull($this->queue()->find('a'));
        $this->assertSame(0, DelayQueue::cancel('a'));

        $this->shop()->transaction(function (): void {
            Deed::dispatch('both')->identifiedBy('b');
            $this->assertSame(1, DelayQueue::cancel('b'));
        });
        $this->bootWithoutRedis();
        $this->shop()->transaction(function (): void {
            Deed::dispatch('waits')->identifiedBy('c')->onQueue('a b');
        });
        $this->assertSame(1, DelayQueue::cancel('c', 'a b'));
        $this->assertSame(0, DelayQueue::cancel('in Redis, maybe', 'default'));
        try {
            DelayQueue::cancel('in Redis, maybe');
            $this->fail('nobody knows');
        } catch (ConnectionException) {
        }

        $this->bootWithOutbox();
        $this->relay();
        $this->assertSame([0, 0], [$this->rows(), $this->queue()->totalSize()]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testManyJobsAreOneStatement(string $database): void
    {
        $this->bootOutbox($database);
        $jobs = array_map(static fn (int $n): Deed => new Deed("job $n"), range(1, 20));
        $this->shop()->enableQueryLog();
        $this->shop()->transaction(fn () => $this->queue()->bulk($jobs));
        $inserts = preg_grep('/^insert/', array_column($this->shop()->getQueryLog(), 'query'));
        $this->assertCount(1, $inserts, 'and Laravel has it in its log');
        $this->queue()->bulk($jobs);
        $this->assertSame([40, 40], [$this->rows(), $this->arrived()]);
        $this->relay();
        $this->assertSame([0, 40], [$this->rows(), $this->arrived()]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testTheMigrationMakesAndRemovesTheTables(string $database): void
    {
        $this->bootOutbox($database);
        $this->shop()->statement('drop table delayqueue_outbox');
        $this->shop()->statement('drop table delayqueue_source');
        $this->shop()->statement('drop table delayqueue_jobs');
        $this->artisan('migrate', ['--force' => true]);
        try {
            $this->shop()->transaction(fn () => $this->queue()->push(new Deed('too soon')));
            $this->fail('there is no table');
        } catch (SchemaException $missing) {
            $this->assertStringContainsString('delayqueue_outbox', $missing->getMessage());
            $this->assertStringContainsString('vendor:publish', $missing->getMessage());
        }

        $this->artisan('vendor:publish', ['--tag' => 'delayqueue-migrations']);
        $this->artisan('migrate', ['--force' => true]);
        $this->shop()->transaction(fn () => $this->queue()->push(new Deed('one')));
        $this->assertSame(1, $this->arrived());
        $this->assertSame([], $this->shop()->select('select * from delayqueue_jobs'), 'the table of inbox and journal is there');

        $this->artisan('migrate:rollback', ['--force' => true]);
        $this->expectException(QueryException::class);
        $this->rows();
    }
}
