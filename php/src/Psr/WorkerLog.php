<?php

declare(strict_types=1);

namespace DelayQueue\Psr;

use DelayQueue\Event;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use Psr\Log\LoggerInterface;
use Psr\Log\LogLevel;
use Throwable;

/**
 * Writes the events of a worker to a PSR-3 logger: what concerns a job as debug and info, what somebody should look at as warning and
 * error. The context has `queue`, `job`, `attempt`, and, where there are any, `seconds` (how long the handler ran) and
 * `exception`.
 *
 *     (new WorkerLog($logger))->watch($queue);
 *     $queue->consume($handler);
 */
final class WorkerLog
{
    public function __construct(private readonly LoggerInterface $logger)
    {
    }

    /**
     * @template Q of QueueInterface
     *
     * @param Q $queue
     * @param Event ...$events none: all
     *
     * @return Q the same object
     */
    public function watch(QueueInterface $queue, Event ...$events): QueueInterface
    {
        foreach ($events === [] ? Event::cases() : $events as $event) {
            $queue->on($event, $this->write(...));
        }

        return $queue;
    }

    private function write(Event $event, ?JobInterface $job, ?Throwable $error, ?float $seconds): void
    {
        $context = $job === null ? [] : ['queue' => $job->queue, 'job' => $job->id, 'attempt' => $job->attempts];
        if ($seconds !== null) {
            $context['seconds'] = $seconds;
        }
        if ($error !== null) {
            $context['exception'] = $error;
        }
        $this->logger->log(self::level($event), self::text($event) . ($error === null ? '' : ": {$error->getMessage()}"), $context);
    }

    private static function level(Event $event): string
    {
        return match ($event) {
            Event::Idle, Event::Processing => LogLevel::DEBUG,
            Event::WorkerStarting, Event::WorkerReady, Event::WorkerStopping, Event::Succeeded, Event::Released, Event::ConnectionRestored => LogLevel::INFO,
            Event::Failed, Event::TimedOut, Event::LeaseLost, Event::Cancelled, Event::ConnectionLost => LogLevel::WARNING,
            Event::Buried => LogLevel::ERROR,
        };
    }

    private static function text(Event $event): string
    {
        return match ($event) {
            Event::WorkerStarting => 'The worker starts',
            Event::WorkerReady => 'The worker is ready',
            Event::Idle => 'No job came',
            Event::Processing => 'A job begins',
            Event::Succeeded => 'A job is done',
            Event::Released => 'A job was given back',
            Event::Failed => 'A job failed',
            Event::Buried => 'A job was buried',
            Event::TimedOut => 'A job ran for too long',
            Event::LeaseLost => 'The lease of a job was lost',
            Event::Cancelled => 'A job that runs was cancelled',
            Event::ConnectionLost => 'The connection to Redis was lost',
            Event::ConnectionRestored => 'The connection to Redis is back',
            Event::WorkerStopping => 'The worker stops',
        };
    }
}
