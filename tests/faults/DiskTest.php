<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\Backoff;
use DelayQueue\ServerException;
use DelayQueue\State;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Node;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\Wait;

/** After a crash Redis has only the jobs that it has written to disk. */
final class DiskTest extends FaultTestCase
{
    private const CUTS = 100;

    /** @dataProvider policies */
    #[\PHPUnit\Framework\Attributes\DataProvider('policies')]
    public function testAKilledRedisLosesNothingThatItAccepted(string $policy): void
    {
        $this->setup = new Single(['appendonly yes', "appendfsync $policy"]);
        $load = $this->load();
        for ($kill = 1; $kill <= 3; $kill++) {
            $load->flow(0.3);
            $this->setup->node()->kill();
            usleep($kill * 100_000);
            $this->setup->heal();
            $this->assertLessThan(3.0, $load->secondsUntilTheNextRun(), 'workers go on once Redis is back');
            $load->killAWorker();
        }
        $load->flow(0.3);
        $account = $this->account();
        // In doubt is what was on its way when a worker or Redis was killed: a batch of five at most for each of three workers.
        $account->assertWhole(3 * 15 + $load->kills * 5);
    }

    /** @return array<string, array{string}> */
    public static function policies(): array
    {
        return ['everysec' => ['everysec'], 'always' => ['always']];
    }

    /** A log that ends anywhere is what a power cut leaves: each job is in one state, and all of them can be done. */
    public function testALogThatIsCutOffAnywhereIsASoundQueue(): void
    {
        $this->setup = new Single(['appendonly yes', 'aof-load-truncated yes']);
        // No state ends by itself while the test looks.
        $queue = $this->queue(['ttr' => '1h', 'backoff' => Backoff::fixed('1h')]);
        for ($round = 0; $round < 20; $round++) {
            $jobs = array_map(static fn (int $n) => ['payload' => [$round, $n], 'id' => "$round-$n", 'priority' => 1000 + $n % 30], range(1, 20));
            $queue->pushMany($jobs);
            $queue->push('later', '1h', id: "$round-later");
            $held = [...$queue->reserveMany(5), ...$queue->reserveMany(5)];
            $queue->ackMany(...array_slice($held, 0, 6));
            $held[6]->fail('why');
            $held[7]->bury('set aside');
            $held[8]->release('1h');
            $queue->cancel("$round-20");
            $queue->kick();
        }
        $node = $this->setup->node();
        $node->kill();
        [$log] = glob("{$node->folder->path}/appendonlydir/*.incr.aof");
        $whole = file_get_contents($log);
        mt_srand(4711);
        for ($n = 0; $n < self::CUTS; $n++) {
            $cut = mt_rand(0, strlen($whole));
            file_put_contents($log, substr($whole, 0, $cut));
            $node->start();
            $this->assertSound("cut at $cut of " . strlen($whole));
            $node->kill();
        }
    }

    /** @group quick */
    public function testAFullDiskRefusesWritesAndIsRecoveredFrom(): void
    {
        // A server that is told of its limit by an error, as by a full disk, and not by a signal.
        $this->setup = new Single(['appendonly yes', 'auto-aof-rewrite-percentage 0'], ['sh', '-c', 'trap "" XFSZ; exec "$0" "$@"']);
        $load = $this->load();
        $load->flow(0.5);
        $node = $this->setup->node();
        [$log] = glob("{$node->folder->path}/appendonlydir/*.incr.aof");
        clearstatcache();
        $this->limit($node, (string) (filesize($log) + 50_000));
        Wait::until(static fn () => $node->info('persistence')['aof_last_write_status'] === 'err', 20, 'the disk is full');
        $refused = null;
        try {
            $this->queue()->push('on a full disk');
        } catch (ServerException $e) {
            $refused = $e->redisCode;
        }
        $this->assertSame('MISCONF', $refused);
        $found = array_column($this->queue()->doctor(), 'level', 'check');
        $this->assertSame('error', $found['disk']);
        usleep(1_500_000);
        $this->limit($node, 'unlimited');
        $this->assertLessThan(3.0, $load->secondsUntilTheNextRun(), 'workers go on once there is room');
        $load->flow(0.3);
        $account = $this->account();
        $account->assertWhole(20);
        $this->assertNotEmpty(preg_grep('/MISCONF/', array_keys($account->errors)));
        $this->assertGreaterThan(0, $account->count('refused'));
    }

    private function limit(Node $node, string $bytes): void
    {
        exec("prlimit --pid {$node->pid()} --fsize=$bytes:unlimited 2>&1", $said, $status);
        $this->assertSame(0, $status, implode("\n", $said));
    }

    private function assertSound(string $when): void
    {
        $queue = $this->queue();
        $findings = array_column($queue->doctor(), 'level', 'check');
        $this->assertSame('ok', $findings['jobs'], $when);
        $states = [];
        foreach (State::cases() as $state) {
            foreach ($queue->list($state, 0, 1000) as $job) {
                $this->assertArrayNotHasKey($job->id, $states, "$when: a job is in one state");
                $states[$job->id] = $state;
            }
        }
        $this->assertCount($queue->count(), $states, $when);
        while ($jobs = $queue->reserveMany(100)) {
            $this->assertSame(count($jobs), $queue->ackMany(...$jobs));
        }
        $this->assertSame('new', $queue->reserveJob($queue->push('new'))?->payload, $when);
    }
}
