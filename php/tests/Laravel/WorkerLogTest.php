<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Backoff;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\Psr\WorkerLog;
use DelayQueue\Testing\InteractsWithDelayQueue;
use Monolog\Handler\TestHandler;
use Monolog\Logger;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** The log of a worker, in a PSR-3 logger that is here with Laravel. */
final class WorkerLogTest extends TestCase
{
    use InteractsWithDelayQueue;

    public function testTheEventsOfAWorkerAreLogged(): void
    {
        $queue = $this->delayQueue('logged');
        $queue->push('good', id: 'good');
        $queue->push('bad', id: 'bad', maxAttempts: 1, backoff: Backoff::fixed(1));
        $handler = new TestHandler();
        (new WorkerLog(new Logger('test', [$handler])))->watch($queue);
        $queue->drain(static fn (Job $job) => $job->payload === 'good' ?: throw new RuntimeException('no luck'));

        $lines = array_map(
            static fn ($record): string => "$record[level_name] $record[message] " . ($record['context']['job'] ?? ''),
            $handler->getRecords(),
        );
        $this->assertContains('INFO A job is done good', $lines);
        $this->assertContains('ERROR A job was buried: no luck bad', $lines);
        $this->assertContains('DEBUG A job begins good', $lines);
        $buried = array_values(array_filter($handler->getRecords(), static fn ($record): bool => $record['level_name'] === 'ERROR'))[0];
        $this->assertSame(['logged', 1], [$buried['context']['queue'], $buried['context']['attempt']]);
        $this->assertIsFloat($buried['context']['seconds']);
        $this->assertInstanceOf(RuntimeException::class, $buried['context']['exception']);
    }

    public function testOnlyTheEventsNamedAreLogged(): void
    {
        $queue = $this->delayQueue();
        $queue->push('good');
        $handler = new TestHandler();
        (new WorkerLog(new Logger('test', [$handler])))->watch($queue, Event::Succeeded);
        $queue->drain(static fn () => null);
        $this->assertCount(1, $handler->getRecords());
    }
}
