<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/PhpProcess.php';

/** What happens between processes: crashes, competition, signals. */
final class WorkerProcessesTest extends TestCase
{
    use InteractsWithDelayQueue;

    public function testAJobOfAKilledWorkerComesBackWhenItsLeaseEnds(): void
    {
        $queue = $this->delayQueue();
        $queue->push('work', id: 'a', ttr: 0.5);
        $worker = self::php('$job = (new DelayQueue())->reserve(10); echo "held $job->attempts\n"; sleep(60);');
        $worker->waitFor('held 1');

        $worker->signal(SIGKILL);
        [$code] = $worker->end();

        $this->assertNotSame(0, $code);
        $job = $queue->reserve(20);
        $this->assertSame(['a', 'work', 2, 'lease expired'], [$job?->id, $job?->payload, $job?->attempts, $job?->lastError]);
    }

    public function testCompetingWorkersTakeEachJobOnce(): void
    {
        $ids = $this->delayQueue()->pushMany(array_fill(0, 600, ['payload' => 'x']));
        $code = '$queue = new DelayQueue(); while ($job = $queue->reserve(0)) { echo "$job->id\n"; $job->ack(); }';
        $workers = array_map(static fn (): PhpProcess => self::php($code), range(1, 4));

        $taken = '';
        foreach ($workers as $worker) {
            [$code, $output] = $worker->end();
            $this->assertSame(0, $code, $output);
            $taken .= $output;
        }

        $taken = explode("\n", rtrim($taken));
        sort($taken);
        sort($ids);
        $this->assertSame($ids, $taken);
        $this->assertQueueEmpty();
    }

    public function testASignalEndsAWaitThatStopWasCalledIn(): void
    {
        $worker = self::php(<<<'PHP'
            $queue = new DelayQueue();
            pcntl_async_signals(true);
            pcntl_signal(SIGTERM, static fn () => $queue->stop());
            echo "waiting\n";
            var_dump($queue->reserve(null));
            PHP);
        $worker->waitFor('waiting');

        $worker->signal(SIGTERM);

        $this->assertSame([0, "waiting\nNULL\n"], $worker->end());
    }

    public function testAWaitingWorkerIsWokenByAPush(): void
    {
        $worker = self::php('echo "waiting\n"; echo (new DelayQueue())->reserve(null)->payload, "\n";');
        $worker->waitFor('waiting');

        $this->delayQueue()->push('here');

        $this->assertSame([0, "waiting\nhere\n"], $worker->end());
    }

    private static function php(string $code): PhpProcess
    {
        return new PhpProcess(['-r', $code]);
    }
}
