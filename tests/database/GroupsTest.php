<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue\Database\JobRecord;
use DelayQueue\Database\Journal;
use DelayQueue\NewJob;
use DelayQueue\Release;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\OutboxTestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use ValueError;

/** The groups of jobs that go by way of a database. */
final class GroupsTest extends OutboxTestCase
{
    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testAJobArrivesInItsGroupByEveryWay(string $server): void
    {
        $this->begin($server);
        foreach ([1, 8] as $partitions) {
            $options = ['partitions' => $partitions];
            $outbox = $this->outbox($options);
            $name = "orders-$partitions";
            $ids = [$outbox->push($name, new NewJob(1, group: 'tenant-1')), $outbox->push($name, new NewJob(2, id: 'own', group: "caf\u{E9}"))];
            $this->assertSame(2, $outbox->flush());
            $ids = [...$ids, ...$outbox->pushMany($name, [['payload' => 3, 'group' => 'tenant-3'], ['payload' => 4]])];
            $outbox->discard();
            $this->assertSame(4, $this->relay($options)->drain());
            $ids[] = $outbox->pushNow($name, new NewJob(5, group: 'tenant-5'));
            $queue = $this->queue($name, $options);
            $groups = array_map(static fn (string $id): ?string => $queue->peek($id)?->group, $ids);
            $this->assertSame(['tenant-1', "caf\u{E9}", 'tenant-3', null, 'tenant-5'], $groups);
            $this->assertSame(1, $queue->groupStats('tenant-1')->waiting);
        }
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAGroupThatRedisOrTheDatabaseWouldNotTakeIsRefused(string $server): void
    {
        $this->begin($server);
        $refused = function (string $message, callable $push): void {
            try {
                $push();
                $this->fail($message);
            } catch (ValueError $error) {
                $this->assertSame($message, $error->getMessage());
            }
        };
        $outbox = $this->outbox();
        $class = $outbox::class;
        $refused("$class::push(): Argument #2 (\$job): \"group\" must be UTF-8, since the database stores it as text", static fn () => $outbox->push('orders', new NewJob(1, group: "\xff")));
        $refused("$class::pushMany(): Argument #2 (\$jobs) item 0: \"group\" must be UTF-8, since the database stores it as text", static fn () => $outbox->pushMany('orders', [['payload' => 1, 'group' => "\xff"]]));
        try {
            $outbox->pushNow('orders', ['payload' => 1, 'group' => '']);
            $this->fail('an empty group');
        } catch (ValueError $error) {
            $this->assertStringStartsWith("$class::pushNow(): Argument #2 (\$job): \"group\" must", $error->getMessage());
        }
        $this->assertSame([0, 0], [$this->rows(), $this->queue()->count()]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testTheJournalKnowsTheGroupAndARebuiltQueueHasIt(string $server): void
    {
        $this->begin($server);
        $journal = new Journal($this->pdo, fn (string $name) => $this->queue($name), payloads: true);
        $outbox = $this->outbox(journal: true);
        $outbox->push('orders', new NewJob(1, id: 'outbox', group: 'acme'));
        $outbox->push('orders', new NewJob(2, id: 'none'));
        $outbox->flush();
        $queue = $journal->watch($this->queue());
        $queue->push(3, id: 'worker', group: 'beta');
        $queue->drain(static fn () => throw new Release('1h'));
        $expected = ['outbox' => 'acme', 'none' => null, 'worker' => 'beta'];
        $this->assertSame($expected, array_map(static fn (string $id): ?string => $journal->find($id)[0]->group, array_combine(array_keys($expected), array_keys($expected))));

        RedisServer::shared()->flush();
        $this->assertSame(3, $journal->rebuild('orders'));
        foreach ($expected as $id => $group) {
            $this->assertSame($group, $this->queue()->peek($id)?->group, $id);
        }
        $this->assertContainsOnlyInstancesOf(JobRecord::class, $journal->search('orders'));
    }
}
