<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue;
use DelayQueue\Tests\Support\CliTestCase;

/** Which queues a command is about, and how much of them it sees. */
final class CliQueuesTest extends CliTestCase
{
    public function testACommandRefusesToSeeOnlyAPartOfAQueue(): void
    {
        $queue = new DelayQueue('spread', $this->redis->dsn(), ['partitions' => 3]);
        $queue->pushMany(array_map(static fn (int $n) => ['payload' => $n, 'id' => "order-$n"], range(1, 30)));
        foreach ([['list', 'ready'], ['dump'], ['purge', '--force'], ['work', __FILE__], ['drain', __FILE__, '--queue=other']] as $command) {
            $said = $this->cliExpecting(2, ...[...$command, '--queue=spread']);
            $this->assertStringContainsString('queue spread has jobs in 3 partitions: give --partitions=3', $said);
        }
        $this->assertCount(30, $this->json('list', 'ready', '--queue=spread', '--partitions=3', '--limit=50', '--format=json'));
        $this->cliExpecting(0, 'cancel', 'order-7', '--queue=spread', '--partitions=3');
        $this->assertCount(29, $queue);
    }

    public function testCommandsAboutAllQueuesSeeAllPartitionsOfEach(): void
    {
        $one = new DelayQueue('one', $this->redis->dsn());
        $one->push(1, id: 'a');
        $spread = new DelayQueue('spread', $this->redis->dsn(), ['partitions' => 3]);
        $spread->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "job-$n"], range(1, 30)));
        foreach ([[], ['--partitions=2']] as $options) {
            $this->assertSame(['one' => 1, 'spread' => 30], array_column($this->json('stats', '--format=json', ...$options), 'ready', 'queue'));
        }
        $this->assertStringContainsString('delayqueue_jobs{queue="spread",state="ready"} 30', $this->cliExpecting(0, 'stats', '--format=prometheus'));
        $this->assertStringContainsString('give --partitions=3', $this->cliExpecting(2, 'stats', 'spread'), 'it was named');

        file_put_contents($dump = "{$this->redis->folder->path}/all.ndjson", $this->cliExpecting(0, 'dump', '--all'));
        $one->purge();
        $spread->purge();
        $this->assertStringStartsWith("31 loaded, 0 kept\n", $this->cliExpecting(0, 'load', $dump, '--partitions=3'));
        $this->assertSame([30, 29], [count($spread), $spread->peek('job-29')?->payload]);
    }

    public function testAListOfAllQueuesNamesTheQueueOfEachJob(): void
    {
        foreach (['a' => 1, 'b' => 2, 'c' => 1] as $name => $partitions) {
            $queue = new DelayQueue($name, $this->redis->dsn(), ['partitions' => $partitions]);
            foreach (['one', 'two', 'three'] as $id) {
                $queue->push($id, id: "$name-$id");
                $queue->reserveJob("$name-$id")->bury($id === 'two' ? 'timeout' : 'broken');
            }
        }
        $this->assertSame(9, preg_match_all('/^([abc]) +\1-\w+ /m', $this->cliExpecting(0, 'list', 'buried', '--all')));
        $found = $this->json('list', 'buried', '--all', '--error=timeout', '--format=json');
        $this->assertSame(['a' => 'a-two', 'b' => 'b-two', 'c' => 'c-two'], array_column($found, 'id', 'queue'));
        $cut = $this->cliExpecting(0, 'list', 'buried', '--all', '--limit=4');
        $this->assertSame(4, preg_match_all('/^[abc] /m', $cut));
        $this->assertStringContainsString('4 listed, and there are more', $cut);
        foreach (['--queue=a', '--after=x', '--offset=1', '--group=g', '--dry-run'] as $option) {
            $this->cliExpecting(2, 'list', 'buried', '--all', $option);
        }
    }

    public function testPauseSaysWhenItEnds(): void
    {
        $this->queue()->push(1, group: 'tenant-42');
        $this->assertSame("$this->queueName: paused until resume\n", $this->cliExpecting(0, 'pause'));
        $said = $this->cliExpecting(0, 'pause', '--for=15m', '--group=tenant-42');
        $pattern = "/^$this->queueName, group tenant-42: paused for 15m, until (\S+Z)\n$/D";
        $this->assertSame(1, preg_match($pattern, $said, $found), $said);
        $this->assertEqualsWithDelta(microtime(true) + 900, (float) (new \DateTimeImmutable($found[1]))->format('U.u'), 30);
        $this->assertSame('', $this->cliExpecting(0, 'pause', '-q', '--for=1h'));
    }

    public function testACommandRefusesAQueueWhoseNameMayBeMistyped(): void
    {
        $this->queue()->push(1);
        foreach ([['pause'], ['resume'], ['purge', '--force'], ['list', 'ready']] as $command) {
            $said = $this->cliExpecting(2, ...[...$command, '--queue=mistyped']);
            $this->assertStringContainsString("there is no queue mistyped; there are $this->queueName", $said, $command[0]);
        }
        $this->cliExpecting(2, 'pause', '--queue', $this->queueName, '--queue=mistyped');
        $this->assertFalse($this->queue()->isPaused(), 'none or all');
        $this->cliExpecting(0, 'pause', '--queue=mistyped', '--create');
        $this->cliExpecting(0, 'resume', '--queue=mistyped');
        $this->assertFalse((new DelayQueue('mistyped', $this->redis->dsn()))->isPaused());
    }
}
