<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;

/** A process forks after its connection is open. */
final class ForkTest extends ProcessTestCase
{
    private const CHILDREN = 4;

    private const JOBS = 300;

    private Process $parent;

    public function testEveryProcessReadsItsOwnRepliesAndTheParentKeepsItsConnection(): void
    {
        $this->parent = Php::program('fork.php', $this->redis->dsn(), 'forked', (string) self::CHILDREN, (string) self::JOBS);
        $this->parent->hear('connected');
        $before = $this->redis->clients($this->parent->pid);
        $this->assertCount(1, $before);
        $this->parent->say('fork');
        $this->parent->hear('done', 60);
        $this->assertSame($before, $this->redis->clients($this->parent->pid), 'the connection of the parent');
        $this->parent->say('end');
        $said = $this->parent->rest();
        $this->assertSame(0, $this->parent->exitCode(), $said . $this->parent->errors());
        $this->assertSame('', $said);
        $this->assertSame('', $this->parent->errors());

        $stats = (new DelayQueue('forked', $this->redis->dsn()))->stats();
        $pushed = (self::CHILDREN + 1) * self::JOBS + 1;
        $this->assertSame($pushed, $stats->pushed);
        $this->assertSame($pushed, $stats->acked);
        $this->assertSame(0, $stats->reserved + $stats->ready + $stats->delayed + $stats->buried);
    }

    public function testAForkWhileReserveWaitsLeavesBothWithAConnection(): void
    {
        $this->parent = Php::program('fork_while_waiting.php', $this->redis->dsn(), 'forked');
        $this->assertSame("child got child\nparent got parent\n", $this->parent->rest(20), $this->parent->errors());
        $this->assertSame(0, $this->parent->exitCode());
    }
}
