<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\Flow\Batch;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Wait;

/**
 * Batches whose workers, or whose starting processes, are killed at random.
 *
 * @group verify
 */
#[\PHPUnit\Framework\Attributes\Group('verify')]
final class BatchKillTest extends ProcessTestCase
{
    private const OPTIONS = ['ttr' => 0.3, 'maxAttempts' => 0, 'readTimeout' => 10];

    private Folder $folder;

    /** @var array<array-key, Process> */
    private array $workers = [];

    protected function setUp(): void
    {
        parent::setUp();
        $this->folder = new Folder();
        foreach (['runs', 'ends'] as $file) {
            touch("{$this->folder->path}/$file");
        }
    }

    protected function tearDown(): void
    {
        foreach ($this->workers as $worker) {
            $worker->kill();
        }
        $this->folder->remove();
        parent::tearDown();
    }

    public function testOfTenThousandMembersThenComesOnceWhenTheLastOneWasDone(): void
    {
        $members = 10_000;
        $queue = new DelayQueue('one', $this->redis->dsn(), self::OPTIONS);
        $wide = new DelayQueue('wide', $this->redis->dsn(), ['partitions' => 4] + self::OPTIONS);
        $to = ['one', 'two', $wide];
        $jobs = array_map(static fn (int $n): array => ['payload' => $n, 'id' => "all-$n", 'queue' => $to[$n % 3]], range(1, $members));
        Batch::start($queue, 'all', $jobs, then: ['payload' => 'all', 'queue' => 'ends']);

        $kinds = [['one,two', '1'], ['one,two', '1'], ['wide', '4'], ['wide', '4']];
        $kills = 0;
        foreach ($kinds as $index => $kind) {
            $this->work($index, ...$kind);
        }
        $this->work('ends', 'ends', '1');
        Wait::until(function () use ($kinds, &$kills): bool {
            usleep(random_int(10_000, 80_000));
            if ($this->lines('ends') === []) {
                $victim = random_int(0, count($kinds) - 1);
                $this->workers[$victim]->kill();
                $this->work($victim, ...$kinds[$victim]);
                $kills++;
            }

            return $this->lines('ends') !== [];
        }, 240, 'the end of the batch');
        $this->assertGreaterThan(10, $kills);
        $this->settled($queue);

        // With those that members of the queue "two" have added.
        $members += count(array_filter(range(1, $members), static fn (int $n): bool => $n % 3 === 1 && $n % 100 === 0));
        $this->assertSame(["all $members"], $this->lines('ends'), "after $kills kills, and " . (count($this->lines('runs')) - $members) . ' repeated runs');
    }

    public function testAStartThatWasKilledIsCompletedByAnother(): void
    {
        [$members, $batches] = [400, 8];
        $queue = new DelayQueue('one', $this->redis->dsn(), self::OPTIONS);
        $this->work(0, 'one,two', '1');
        $this->work('ends', 'ends', '1');

        for ($try = 1; $try <= 3; $try++) {
            foreach ($this->starters($batches, $members) as $start) {
                $start->say('go');
                usleep(random_int(0, 30_000));
                $start->kill();
            }
        }
        // Two at once for each batch.
        $starts = [...$this->starters($batches, $members), ...$this->starters($batches, $members)];
        array_map(static fn (Process $start) => $start->say('go'), $starts);
        $answers = array_map(static fn (Process $start): string => $start->line(30), $starts);
        $this->assertSame([], array_diff($answers, ['started', 'ended']));
        Wait::until(fn (): bool => count($this->lines('ends')) >= $batches, 90, 'the end of the batches');
        $this->settled($queue);

        $ends = $this->lines('ends');
        sort($ends);
        $this->assertSame(array_map(static fn (int $number): string => "batch$number $members", range(0, $batches - 1)), $ends);
    }

    /** @return list<Process> for each of the batches one that is about to start it */
    private function starters(int $batches, int $members): array
    {
        $starts = array_map(fn (int $n): Process => Php::program('batch_start.php', $this->redis->dsn(), "batch$n", (string) $members), range(0, $batches - 1));
        array_map(static fn (Process $start) => $start->hear('ready'), $starts);

        return $starts;
    }

    private function work(int|string $key, string $queues, string $partitions): void
    {
        $this->workers[$key] = Php::program('batch_worker.php', $this->redis->dsn(), $queues, $partitions, $this->folder->path);
    }

    /** Every job was settled, and nothing is left of the batches. */
    private function settled(DelayQueue $queue): void
    {
        Wait::until(function () use ($queue): bool {
            $left = 0;
            foreach (['one' => 1, 'two' => 1, 'wide' => 4, 'ends' => 1, 'batches' => 1] as $name => $partitions) {
                $left += count($queue->sibling($name, ['partitions' => $partitions]));
            }

            return $left === 0;
        }, 60, 'empty queues');
    }

    /** @return list<string> */
    private function lines(string $file): array
    {
        return file("{$this->folder->path}/$file", FILE_IGNORE_NEW_LINES);
    }
}
