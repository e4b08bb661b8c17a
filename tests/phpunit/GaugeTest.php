<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Console\Target;
use DelayQueue\Console\WorkCommand;
use DelayQueue\Console\Worker\Gauge;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\GroupLimits;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\WorkerOrder;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\BufferedOutput;

/** How long jobs wait, as the process measures it by which the number of workers follows the load. */
final class GaugeTest extends ProcessTestCase
{
    public static function setUpBeforeClass(): void
    {
        // As php/bin/delayqueue finds it.
        class_exists(ArrayInput::class) || require_once 'Symfony/Component/Console/autoload.php';
    }

    public function testItTellsOfTheQueueWhoseReadyJobsWaitForLongest(): void
    {
        $this->assertSame(['queue' => 'orders', 'wait' => 0.0], $this->measured());
        $this->open('orders')->push(1, delay: '1h');
        $this->assertSame(0.0, $this->measured()['wait'], 'nothing is due');
        $this->open('orders')->push(1, delay: self::ago(10));
        $this->open('mails')->push(1, delay: self::ago(50));
        $load = $this->measured();
        $this->assertSame('mails', $load['queue']);
        $this->assertEqualsWithDelta(55.0, $load['wait'], 5.0);
    }

    public function testJobsThatOperatorsOrLimitsKeepWaitingDoNotCount(): void
    {
        $queue = $this->open('orders');
        $queue->limitGroups('a', new GroupLimits(concurrency: 1));
        $queue->push(1, group: 'a');
        $this->assertNotNull($held = $queue->reserve());
        $queue->push(2, delay: self::ago(10), group: 'a');
        $this->assertSame([1, 0.0], [$queue->stats()->blocked, $this->measured()['wait']], 'its group is full');

        $queue->push(3, delay: self::ago(10));
        $this->assertGreaterThan(9.0, $this->measured()['wait']);
        $queue->pause();
        $this->assertSame(0.0, $this->measured()['wait'], 'the queue is paused');
        $queue->resume();
        $this->assertGreaterThan(9.0, $this->measured()['wait']);
        $this->listWorker('paused');
        $this->assertSame(0.0, $this->measured()['wait'], 'a worker was ordered to pause');
        $this->listWorker('working');
        $this->assertGreaterThan(9.0, $this->measured()['wait']);
        $this->assertSame(1, $queue->tellWorkers(WorkerOrder::Stop));
        $this->assertSame(0.0, $this->measured()['wait'], 'a worker is told to stop and has not heard it yet');
        $held->ack();
    }

    public function testItIsSilentWhileRedisIsAwayAndSaysWhyOnce(): void
    {
        $output = new BufferedOutput();
        $rounds = 0;
        $input = self::input(['--dsn' => 'redis://127.0.0.1:1/0']);
        (new Gauge($input, new Notices($output, false)))->run(static function () use (&$rounds): bool {
            return ++$rounds > 3;
        }, static fn () => null, $this->fail(...));
        $this->assertSame(1, substr_count($output->fetch(), 'nobody knows how long jobs wait, so the number of workers stays: '));
    }

    /** @return array{queue: string, wait: float} */
    private function measured(): array
    {
        $told = [];
        $input = self::input(['--dsn' => $this->redis->dsn()]);
        (new Gauge($input, new Notices(new BufferedOutput(), false)))->run(static function () use (&$told): bool {
            return $told !== [];
        }, static fn () => null, static function (string $json) use (&$told): void {
            $told[] = json_decode($json, true, flags: JSON_THROW_ON_ERROR);
        });

        return $told[0];
    }

    /** @param array<string, string> $options */
    private static function input(array $options): ArrayInput
    {
        $definition = (new WorkCommand())->getDefinition();
        Target::describe($definition);

        return new ArrayInput(['handler' => 'handler.php', '--queue' => ['orders', 'mails'], '--processes' => '2..5'] + $options, $definition);
    }

    private function open(string $queue): DelayQueue
    {
        return new DelayQueue($queue, $this->redis->dsn(), ['readTimeout' => 10]);
    }

    private static function ago(int $seconds): DateTimeImmutable
    {
        return new DateTimeImmutable("-$seconds seconds");
    }

    private function listWorker(string $state): void
    {
        $entry = [
            'host' => 'web1', 'pid' => 4711, 'version' => DelayQueue::VERSION, 'state' => $state, 'queues' => ['orders'],
            'job' => null, 'memory' => 35_000_000, 'up_ms' => 7_800_000, 'listed_ms' => 28_000,
        ];
        $this->redis->ask('SET', 'dq:{#workers}:0123456789abcdef', json_encode($entry));
        $this->redis->ask('ZADD', 'dq:{#workers}:index', (string) time(), '0123456789abcdef');
    }
}
