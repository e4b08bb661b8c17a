<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Middleware;

use DelayQueue\Database\Inbox;
use DelayQueue\Laravel\Database\LaravelConnection;
use DelayQueue\Laravel\Job;
use Illuminate\Container\Container;
use LogicException;
use RuntimeException;

/**
 * A middleware for jobs: what the job writes to a database is written once, also when the job is delivered again. The job runs in a transaction
 * of that connection, beside its mark in the table delayqueue_jobs.
 *
 *     public function middleware(): array
 *     {
 *         return [new Once('mysql')];
 *     }
 *
 * The writes of a job that throws or releases itself are rolled back, because the job runs again; fail() keeps them. On other queue connections than
 * delayqueue it means nothing.
 */
final class Once
{
    /** @param string|null $connection of config/database.php; null: the default one */
    public function __construct(private readonly ?string $connection = null)
    {
    }

    public function handle(object $command, callable $next): mixed
    {
        if (!property_exists($command, 'job')) {
            throw new LogicException(sprintf('%s needs the trait InteractsWithQueue, by which the middleware %s knows its job', $command::class, self::class));
        }
        $job = $command->job;
        if (!$job instanceof Job) {
            return $next($command);
        }
        $result = null;
        $isGivenBack = new RuntimeException('the job runs again');
        $inbox = new Inbox(new LaravelConnection(Container::getInstance()->make('db'), $this->connection));
        try {
            $inbox->once($job->native(), static function () use ($next, $command, $job, $isGivenBack, &$result): void {
                $result = $next($command);
                if ($job->isReleased()) {
                    throw $isGivenBack;
                }
            });
        } catch (RuntimeException $thrown) {
            if ($thrown !== $isGivenBack) {
                throw $thrown;
            }
        }

        return $result;
    }
}
