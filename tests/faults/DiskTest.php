<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\ServerException;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Node;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\Wait;

/** After a crash Redis has only the jobs that it has written to disk. */
final class DiskTest extends FaultTestCase
{
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
}
