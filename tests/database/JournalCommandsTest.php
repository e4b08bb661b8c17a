<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Database\Journal;
use DelayQueue\Job;
use DelayQueue\Release;
use DelayQueue\Tests\Database\Support\DatabaseCliTestCase;
use DelayQueue\Tests\Support\EndsPools;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work --journal, and journal:list, show, search, prune and rebuild. */
final class JournalCommandsTest extends DatabaseCliTestCase
{
    use EndsPools;

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testWorkersWriteTheJournalAndCommandsReadIt(string $name): void
    {
        $this->useDatabase($name);
        foreach (['nothing', 'fail', 'bury', 'release'] as $do) {
            $this->queue()->push(['do' => $do], id: $do, maxAttempts: 3, backoff: Backoff::parse('1h'));
        }
        $result = $this->cli('work', self::HANDLER, '--journal', '--processes=2', '--stop-when-empty');
        $this->assertSame(0, $result->exitCode, $result->errors);

        $jobs = $this->json('journal:list', '--format=json');
        $states = array_column($jobs, 'state', 'id');
        ksort($states);
        $this->assertSame(['bury' => 'buried', 'fail' => 'failed', 'nothing' => 'done', 'release' => 'released'], $states);
        $this->assertSame([$this->queueName, 1, null], [$jobs[0]['queue'], $jobs[0]['attempts'], $jobs[0]['payload']]);
        $this->assertSame(['fail'], array_column($this->json('journal:list', '--state=failed', '--format=json'), 'id'));
        $this->assertCount(2, $this->json('journal:list', '--limit=2', '--format=json'));
        $this->assertCount(4, $this->json('journal:list', '--since=1h', "--queue=$this->queueName", '--format=json'));
        $this->assertSame([], $this->json('journal:list', '--since=tomorrow', '--format=json'));
        $this->assertSame([], $this->json('journal:list', '--queue=other', '--format=json'));
        $this->assertMatchesRegularExpression('/^ ?queue +id +state +attempts +last run +ended +error *$.*^.* fail +failed +1 +\d.*RuntimeException: not now/ms', $this->cliExpecting(0, 'journal:list'));
        $this->assertSame('', $this->cliExpecting(0, 'journal:list', '--queue=other'));
        $this->assertStringContainsString(
            'the journal has no such jobs',
            $this->cli('journal:list', '--queue=other')->errors,
        );

        [$shown] = $this->json('journal:show', 'fail', '--format=json');
        $this->assertSame(['fail', 'failed', 1, 'failed'], [$shown['id'], $shown['state'], count($shown['runs']), $shown['runs'][0]['outcome']]);
        $text = $this->cliExpecting(0, 'journal:show', 'fail', "--queue=$this->queueName");
        $this->assertMatchesRegularExpression('/^id +fail$.*^state +failed$.*^attempts +1$.*^run 1 +\S+ failed after .* by \S+:\d+: RuntimeException: not$/ms', $text);
        $this->assertSame("delayqueue: the journal knows of no job nosuch in queue other\n", $this->cliExpecting(1, 'journal:show', 'nosuch', '--queue=other'));
        $this->assertSame("delayqueue: the journal knows of no job \\xFF\n", $this->cliExpecting(1, 'journal:show', "\xFF"));

        $this->assertSame(['fail'], array_column($this->json('journal:search', '--contains=not', '--format=json'), 'id'));
        $this->assertSame('', $this->cli('journal:search', '--contains=no such error')->output);
        $this->cliExpecting(1, 'journal:search', '--contains=not', '--state=done');
    }

    public function testItHearsOfEachJobOfABatch(): void
    {
        $this->useDatabase('sqlite');
        foreach (['a' => 'nothing', 'b' => 'nothing', 'c' => 'nothing', 'd' => 'throw'] as $id => $do) {
            $this->queue()->push(['do' => $do], id: $id, backoff: Backoff::parse('1h'));
        }
        $handler = __DIR__ . '/../phpunit/programs/cli_bulk.php';
        $this->cliExpecting(0, 'work', $handler, '--batch=2', '--journal', '--stop-when-empty');
        $states = array_column($this->json('journal:list', '--format=json'), 'state', 'id');
        ksort($states);
        $this->assertSame(['a' => 'done', 'b' => 'done', 'c' => 'failed', 'd' => 'failed'], $states);
    }

    public function testPayloadsAreKeptWhereTheOptionSaysSo(): void
    {
        $this->useDatabase('sqlite');
        $this->queue()->push(['do' => 'fail', 'order' => 4711], id: 'a', backoff: Backoff::parse('1h'), group: 'tenant-42');
        $this->cliExpecting(0, 'work', self::HANDLER, '--journal-payloads', '--stop-when-empty');
        [$found] = $this->json('journal:search', '--contains="order":4711', '--format=json');
        $this->assertSame(['{"do":"fail","order":4711}', 'tenant-42'], [$found['payload'], $found['group']]);
        $this->assertStringContainsString("\ngroup        tenant-42\n", $this->cliExpecting(0, 'journal:show', 'a'));
        $this->assertStringContainsString('payload      {"do":"fail","order":4711}', $this->cliExpecting(0, 'journal:show', 'a'));
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testPruneDeletesWhatEndedLongAgo(string $name): void
    {
        $this->useDatabase($name);
        $this->work(['old', 'new', 'open', 'gone'], static fn (Job $job) => in_array($job->id, ['open', 'gone'], true) ? throw new Bury('why') : null);
        $old = (int) ((microtime(true) - 40 * 86400) * 1e6);
        $this->pdo()->exec("update delayqueue_jobs set ended = $old where job = 'old'");
        $this->pdo()->exec("update delayqueue_jobs set due = $old, began = $old where job in ('open', 'gone')");
        $this->queue()->cancel('gone');
        $this->assertSame("0 deleted, 0 are gone now\n", $this->cliExpecting(0, 'journal:prune', '--older-than=30d', '--state=cancelled'));
        $this->assertSame("0 deleted, 0 are gone now\n", $this->cliExpecting(0, 'journal:prune', '--older-than=30d', '--queue=other'), 'another queue keeps its rows');
        $this->assertSame("1 deleted, 1 are gone now\n", $this->cliExpecting(0, 'journal:prune', '--older-than=30d', "--queue=$this->queueName"));
        $states = array_column($this->json('journal:list', '--format=json'), 'state', 'id');
        ksort($states);
        $this->assertSame(['gone' => 'gone', 'new' => 'done', 'open' => 'buried'], $states);
    }

    public function testPruneSaysWhichQueuesItCouldNotAsk(): void
    {
        $this->useDatabase('sqlite');
        $this->work(['a', 'b'], static fn (Job $job) => $job->id === 'a' ? null : throw new Release('1h'));
        $this->pdo()->exec('update delayqueue_jobs set ended = 1 where ended is not null');
        $this->pdo()->exec('update delayqueue_jobs set due = 1, made = 1 where ended is null');
        $this->redis->kill();
        $result = $this->cli('journal:prune', '--older-than=1h');
        $this->assertSame([3, "1 deleted, 0 are gone now\n"], [$result->exitCode, $result->output]);
        $this->assertMatchesRegularExpression("/queue $this->queueName cannot be asked for its jobs: .*cannot connect/", $result->errors);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testRebuildPushesWhatAnEmptyRedisHasLost(string $name): void
    {
        $this->useDatabase($name);
        $this->work(['done', 'later', 'buried'], static fn (Job $job) => match ($job->id) {
            'done' => null,
            'later' => throw new Release('1h'),
            'buried' => throw new Bury('why'),
        });
        $this->redis->ask('FLUSHALL');
        $this->assertSame("2 pushed\n", $this->cliExpecting(0, 'journal:rebuild', "--queue=$this->queueName"));
        $this->assertSame("0 pushed\n", $this->cliExpecting(0, 'journal:rebuild', "--queue=$this->queueName"));
        $this->assertStringContainsString(
            'the journal knows of no job in queue mistyped',
            $this->cliExpecting(1, 'journal:rebuild', '--queue=mistyped'),
        );
        $this->assertSame([null, 'delayed', 'buried'], array_map(fn (string $id): ?string => $this->queue()->peek($id)?->state->value, ['done', 'later', 'buried']));
    }

    public function testRebuildUsesTheQueueOfTheCommandLine(): void
    {
        $this->useDatabase('sqlite');
        $this->work(['a'], static fn () => throw new Release('1h'));
        $this->redis->ask('FLUSHALL');
        $this->cliExpecting(0, 'journal:rebuild', '--prefix=shop', '--partitions=3');
        $this->assertNotNull((new DelayQueue($this->queueName, $this->redis->dsn(), ['prefix' => 'shop', 'partitions' => 3]))->peek('a'));
        $this->redis->kill();
        $this->cliExpecting(3, 'journal:rebuild');
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testWithoutTheTableOfJobsTheyEndWith5(string $name): void
    {
        $this->useDatabase($name);
        $this->pdo()->exec('drop table delayqueue_jobs');
        $commands = [['journal:list'], ['journal:show', 'a'], ['journal:search', '--contains=a'], ['journal:prune', '--older-than=1d'], ['journal:rebuild'], ['work', self::HANDLER, '--journal', '--stop-when-empty']];
        foreach ($commands as $command) {
            $this->assertMatchesRegularExpression('/^delayqueue: a table .* is missing .*"delayqueue outbox:install --jobs"/m', $this->cliExpecting(5, ...$command));
        }
    }

    public function testWrongUsage(): void
    {
        $this->useDatabase('sqlite');
        foreach ([
            'journal:list --state=lost' => '--state=lost is unknown: it is one of waiting, released',
            'journal:list --since=soonish' => '--since=soonish is neither a duration nor a moment',
            'journal:list --queue=a --queue=b' => 'this command works on one queue: give --queue once',
            'journal:list --limit=0' => '--limit must be a whole number',
            'journal:search' => 'what to search? Give --contains',
            'journal:prune' => 'how old? Give --older-than, such as 30d',
            'journal:prune --older-than=old' => '--older-than must be a duration',
            'journal:prune --older-than=1d --state=failed' => '--state=failed is unknown: it is one of done, cancelled, gone',
        ] as $line => $why) {
            $this->assertStringStartsWith("delayqueue: $why", $this->cliExpecting(2, ...explode(' ', $line)));
        }
        $this->server = null;
        $this->assertStringContainsString('which database?', $this->cliExpecting(2, 'work', self::HANDLER, '--journal', '--stop-when-empty'));
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testWorkersStartAndWorkWhileTheDatabaseOfTheirJournalIsAway(string $name): void
    {
        $this->useDatabase($name);
        $this->server->kill();
        try {
            $worker = $this->start('work', self::HANDLER, '--journal', '--idle-timeout=0.1');
            $this->heard($worker, '/the journal waits for its database.*: cannot open the database: /');
            $this->ready($worker, 1);
            $this->queue()->push([], id: 'a');
            Wait::until(fn (): bool => $this->done() === ['a'], 20, 'it works');
            $this->server->restart();
            Wait::until(fn (): bool => $this->pdo()->query("select state from delayqueue_jobs where job = 'a'")->fetchColumn() === 'done', 30, 'the journal has it after all');
            $this->endWell($worker);
        } finally {
            $this->server->restart();
        }
    }

    /**
     * Jobs of these ids, worked in this process with a journal that keeps payloads.
     *
     * @param list<string> $ids
     */
    private function work(array $ids, callable $handler): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(static fn (string $id): array => ['payload' => $id, 'id' => $id], $ids));
        (new Journal($this->pdo(), payloads: true))->watch($queue)->drain($handler);
    }
}
