<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\Database\Journal;
use DelayQueue\Database\Outbox;
use DelayQueue\Job;
use DelayQueue\NewJob;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\JournalTestCase;
use DelayQueue\Tests\Support\Wait;
use RuntimeException;

/** Rows of the journal that are deleted, or marked as gone. */
final class JournalPruneTest extends JournalTestCase
{
    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAJobLostInTheHandIsCancelledGoneOrStillThere(string $name): void
    {
        $journal = $this->prepare($name);
        $other = self::queue();
        $queue = $journal->watch(self::queue(ttr: 0.2));
        $queue->push(null, id: 'gone');
        $queue->push(null, id: 'there');
        $queue->consume(static function (Job $job) use ($other): void {
            $taken = Wait::until(static fn (): ?Job => $other->reserveJob($job->id) ?? self::expired($other), 10, 'the end of the lease');
            $job->id === 'gone' && $taken->ack();
            try {
                $job->touch();
            } catch (DelayQueue\LeaseLostException) {
            }
        }, maxJobs: 2, heartbeat: false);
        $queue->push(null, id: 'cancelled', ttr: 60);
        $queue->consume(static function (Job $job) use ($other): void {
            $other->cancel('cancelled');
            Wait::until($job->isLost(...), 10, 'the news');
        }, maxJobs: 1);
        $this->assertSame([], $this->reports);
        $this->assertSame(['cancelled', 'gone', null], [$journal->state('cancelled'), $journal->state('gone'), $journal->state('there')]);
        $this->assertNotNull($journal->find('cancelled')[0]->endedAt);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testWhatIsKnownReplacesGone(string $name): void
    {
        $journal = $this->prepare($name);
        $queue = $journal->watch(self::queue());
        $queue->push(null, id: 'order-1');
        $made = (int) round($queue->peek('order-1')->createdAt * 1000);
        $this->pdo()->exec("insert into delayqueue_jobs (queue, job, made, state, ended) values ('orders', 'order-1', $made, 'gone', 1)");
        $queue->drain(static fn () => throw new Release(3600));
        [$record] = $journal->find('order-1');
        $this->assertSame(['released', null], [$record->state, $record->endedAt]);
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testPruneDeletesWhatEndedLongAgo(string $name): void
    {
        $journal = $this->prepare($name);
        $now = (int) (microtime(true) * 1e6);
        $pdo = $this->pdo();
        $pdo->beginTransaction();
        $insert = $pdo->prepare("insert into delayqueue_jobs (queue, job, made, due, state, ended) values ('orders', ?, 1, ?, ?, ?)");
        foreach (range(1, 2500) as $n) {
            $insert->execute(["old-$n", $now, $n % 2 === 0 ? 'done' : 'cancelled', $now - 3_600_000_000 - intdiv($n, 1500)]);
        }
        $insert->execute(['young', $now, 'done', $now - 60_000_000]);
        $insert->execute(['open', $now, 'failed', null]);
        $pdo->commit();
        // A handler that works holds nothing up.
        $working = $this->pdo();
        $working->beginTransaction();
        $name === 'sqlite' || $working->exec("update delayqueue_jobs set attempts = 2 where queue = 'orders' and job = 'young' and made = 1");
        $this->assertSame(1250, $journal->prune('30m', 'cancelled'));
        $this->assertSame(1250, $journal->prune(new \DateInterval('PT30M')));
        $working->commit();
        $this->assertSame(0, $journal->prune(1800));
        $this->assertSame(2, $this->rows());
        $this->expectException(\ValueError::class);
        $journal->prune('soon');
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testPruneEndsWhatItsQueueHasNotAnyMore(string $name): void
    {
        $journal = $this->prepare($name);
        $outbox = new Outbox($this->pdo(), self::queue(...), journal: true);
        foreach (['here', 'purged', 'again', 'young'] as $id) {
            $outbox->push('orders', new NewJob($id, id: $id));
        }
        $outbox->flush();
        $this->pdo()->exec('delete from delayqueue_outbox');
        $outbox->push('orders', new NewJob('x', id: 'unsent'));
        $outbox->push('elsewhere', new NewJob('x', id: 'unknown'));
        $this->pdo()->exec("delete from delayqueue_outbox where queue = 'elsewhere'");
        $this->pdo()->exec("update delayqueue_jobs set due = due - 7200000000 where job <> 'young'");
        self::queue()->cancel('purged', 'again', 'young');
        usleep(2000);
        self::queue()->push(1, id: 'again');

        $this->assertSame(0, $journal->prune('1h', 'done'));
        $this->assertSame('waiting', $journal->state('purged'));
        $this->assertSame(0, $journal->prune('1h'));
        $states = array_map(static fn (string $id): ?string => $journal->state($id), ['here', 'purged', 'again', 'young', 'unsent', 'unknown']);
        $this->assertSame(['waiting', 'gone', 'gone', 'waiting', 'waiting', 'waiting'], $states);
        $this->assertStringContainsString('queue elsewhere cannot be asked', $this->reports[0]);
        $this->assertEqualsWithDelta(microtime(true), $journal->find('purged')[0]->endedAt, 30);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testPruneOfOneQueueLeavesTheOthersAlone(string $name): void
    {
        $journal = $this->prepare($name);
        foreach (['orders', 'mails'] as $queue) {
            self::queue($queue)->push(1, id: 'is there');
            foreach (['ended' => 1, 'open' => null, 'open too' => null] as $id => $ended) {
                $this->pdo()->prepare("insert into delayqueue_jobs (queue, job, made, state, ended) values (?, ?, 1, 'done', ?)")->execute([$queue, $id, $ended]);
            }
        }
        $this->assertSame([1, 2], [$journal->prune('1h', queue: 'orders'), $journal->gone()]);
        $this->assertSame([2, 3], [$this->rows("queue = 'orders' and state = 'gone'"), $this->rows("queue = 'mails' and state = 'done'")]);
        $this->assertSame([1, 2], [$journal->prune('1h'), $journal->gone()]);
        $this->assertSame([0, 0], [$journal->prune('1h'), $journal->gone()]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testPruneEndsNothingOfAQueueThatIsNotInThisRedis(string $name): void
    {
        $this->prepare($name);
        self::queue()->push(1, id: 'order-1');
        $this->pdo()->exec("insert into delayqueue_jobs (queue, job, made, state) values ('orders', 'order-1', 1, 'waiting')");
        $prefixed = static fn (string $queue): DelayQueue => new DelayQueue($queue, RedisServer::shared()->dsn(), ['prefix' => "shop-$name-"]);
        $journal = new Journal($this->pdo(), $prefixed, report: $this->report(...));
        $this->assertSame([0, 0], [$journal->prune(0), $journal->gone()]);
        $this->assertSame('waiting', $journal->state('order-1'));
        $this->assertSame(['queue orders cannot be asked for its jobs: queue orders is not in this Redis'], $this->reports);
        // A queue whose last job has ended is known.
        $prefixed('orders')->push(1, id: 'order-2');
        $prefixed('orders')->purge();
        $this->assertSame([0, 1], [$journal->prune(0), $journal->gone()]);
    }

    public function testPruneOpensOnlyQueuesOfWhichJobsMayBeGone(): void
    {
        $this->prepare('sqlite');
        $this->pdo()->exec("insert into delayqueue_jobs (queue, job, made, state, ended) values ('old', 'a', 1, 'done', 1)");
        $journal = new Journal($this->pdo(), static fn (string $queue) => throw new RuntimeException("there is no $queue"));
        $this->assertSame([1, 0], [$journal->prune('1h'), $journal->gone()]);
        $this->pdo()->exec("insert into delayqueue_jobs (queue, job, made, state, ended) values ('old', 'a', 1, 'done', 4000000000000000)");
        $this->assertSame([0, 0], [$journal->prune('1h'), $journal->gone()]);
    }

    /** Takes back the jobs whose lease is over. */
    private static function expired(DelayQueue $queue): ?Job
    {
        $queue->count(State::Ready);

        return null;
    }
}
