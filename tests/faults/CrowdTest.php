<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue\ConnectionException;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Node;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;

/** Many connections, and many workers that wait. */
final class CrowdTest extends FaultTestCase
{
    private const CONNECTIONS = 2000;

    private const WAITERS = 200;

    /** @var list<Process> */
    private array $crowds = [];

    protected function tearDown(): void
    {
        foreach ($this->crowds as $crowd) {
            $crowd->kill();
        }
        parent::tearDown();
    }

    /** @group quick */
    public function testWorkGoesOnBesideTwoThousandConnectionsAndOneTooManyIsToldSo(): void
    {
        $this->setup = new Single(['appendonly no', 'maxclients ' . (self::CONNECTIONS + 30)]);
        $load = $this->load();
        $this->assertSame('connected: ' . self::CONNECTIONS, $this->crowd(self::CONNECTIONS)->line(60));
        $load->flow(1);
        $this->assertStringStartsWith('refused: ' . ConnectionException::class, $more = $this->crowd(100)->line());
        $this->assertStringContainsString('max number of clients', $more);
        foreach ($this->crowds as $crowd) {
            $crowd->kill();
        }
        Wait::until(fn () => (int) $this->setup->node()->info('clients')['connected_clients'] < 50, 10, 'the crowd has left');
        $this->queue()->push(['notBefore' => 0, 'fail' => false], id: 'after-the-crowd');
        $account = $this->account();
        $this->assertSame(['after-the-crowd'], $account->invented);
        $this->assertSame([], $account->lost);
        $this->assertSame([], $account->left);
        $this->assertSame([], $account->errors, 'who is connected notices nothing');
    }

    public function testAsManyWorkersAreWokenAsThereAreJobs(): void
    {
        $this->setup = new Single(['appendonly no']);
        $node = $this->setup->node();
        $program = __DIR__ . '/programs/herd.php';
        $this->crowds[] = $herd = new Process([...Php::command(), $program, $this->setup->dsn(), self::QUEUE, (string) self::WAITERS]);
        $herd->hear('all there', 60);
        $waiting = static fn () => $node->ask('ZCARD', 'dq:{' . self::QUEUE . '}:waiters');
        Wait::until(static fn () => $waiting() === self::WAITERS, 60, 'all of them wait');
        $before = $this->scripts($node);
        $pushed = [];
        for ($n = 0; $n < 100; $n++) {
            $pushed[] = $this->queue()->push($n, $n % 2 * 0.2);
        }
        $got = [];
        while (count($got) < 100) {
            $got[] = substr($herd->line(20), 4);
        }
        sort($pushed);
        sort($got);
        $this->assertSame($pushed, $got);
        $this->assertSame(self::WAITERS - 100, $waiting(), 'nobody else has left');
        $a_job = ($this->scripts($node) - $before) / 100;
        fwrite(STDERR, sprintf("\n%d workers wait: %.1f scripts a job, its push and acknowledgement included\n", self::WAITERS, $a_job));
        $this->assertLessThan(12.0, $a_job);
    }

    private function crowd(int $connections): Process
    {
        $command = [...Php::command(), __DIR__ . '/programs/crowd.php', $this->setup->dsn(), (string) $connections];

        // The usual limit of 1024 files is one of users' shells.
        return $this->crowds[] = new Process(['sh', '-c', 'ulimit -n 4096; exec "$0" "$@"', ...$command]);
    }

    private function scripts(Node $node): int
    {
        preg_match('/calls=(\d+)/', $node->info('commandstats')['cmdstat_evalsha'] ?? '', $found);

        return (int) ($found[1] ?? 0);
    }
}
