<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;

/**
 * A loop holds after its last job what it held when it was warm.
 *
 * @group verify
 */
#[\PHPUnit\Framework\Attributes\Group('verify')]
final class WorkerGrowthTest extends ProcessTestCase
{
    private Process $process;

    /** @dataProvider loops */
    #[\PHPUnit\Framework\Attributes\DataProvider('loops')]
    public function testNothingGrows(string $kind, int $jobs, int $prefetch): void
    {
        $program = 'worker_growth.php';
        $this->process = Php::program($program, $this->redis->dsn(), $this->queueName, $kind, (string) $jobs, (string) $prefetch);
        [$before, $between, $after] = json_decode($this->process->line(120), true);
        $this->assertSame(0, $this->process->exitCode());
        // A leak grows all the time. A busy machine makes a loop keep more at once than before, some time or other: that grows once.
        $this->assertLessThanOrEqual(1024, min($between['heap'] - $before['heap'], $after['heap'] - $between['heap']), 'PHP\'s heap, bytes');
        $this->assertLessThan($before['process'] + (1 << 20), $after['process'], 'the process, bytes');
        // One more: a second connection, which the list of workers wants after a second, or whoever first finds the other one in use.
        $this->assertLessThanOrEqual($before['files'] + 1, $after['files'], 'open files');
        $this->assertLessThanOrEqual($before['threads'], $after['threads'], 'threads');
    }

    /** @return array<string, array{string, int, int}> */
    public static function loops(): array
    {
        return [
            '100000 jobs one by one' => ['plain', 100_000, 1],
            '100000 jobs, 64 a trip' => ['plain', 100_000, 64],
            'with listeners' => ['events', 20_000, 64],
            'with exceptions, timeouts, cancels, cycles, fibers' => ['trouble', 10_000, 1],
            'the same, prefetched' => ['trouble', 10_000, 64],
        ];
    }
}
