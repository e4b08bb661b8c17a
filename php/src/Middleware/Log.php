<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use DelayQueue\JobInterface;
use Psr\Log\AbstractLogger;
use Psr\Log\LoggerInterface;
use Stringable;

/**
 * Middleware, and a PSR-3 logger for handlers: each line that is logged during a run says for which job.
 *
 *     $log = new Log($logger);
 *     $handler = new CloseOrder($shop, $log);
 *     $queue->consume(new Pipeline($handler, $log));
 *
 * The context of a line has `queue`, `job` and `attempt`, as in WorkerLog, which writes the lines about the runs themselves; and `task`, where the payload
 * names one. A line that has such a name itself keeps its value. Outside of a run lines pass as they are.
 */
final class Log extends AbstractLogger
{
    /** @var list<array{queue: string, job: string, attempt: int, task?: string}> of the job that runs, and of those in whose handlers that happens */
    private array $running = [];

    public function __construct(private readonly LoggerInterface $logger)
    {
    }

    public function __invoke(JobInterface $job, callable $next): mixed
    {
        $task = Task::of($job);
        $this->running[] = ['queue' => $job->queue, 'job' => $job->id, 'attempt' => $job->attempts] + ($task === null ? [] : ['task' => $task]);
        try {
            return $next($job);
        } finally {
            array_pop($this->running);
        }
    }

    /**
     * For loggers that add to their lines themselves, such as Monolog by a processor.
     *
     * @return array{queue?: string, job?: string, attempt?: int, task?: string} [] outside of a run
     */
    public function context(): array
    {
        return $this->running === [] ? [] : $this->running[array_key_last($this->running)];
    }

    /**
     * @param mixed $level
     * @param string|Stringable $message
     * @param array<array-key, mixed> $context
     */
    public function log($level, $message, array $context = []): void
    {
        $this->logger->log($level, $message, $context + $this->context());
    }
}
