<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Failing;

use Closure;
use DelayQueue\Laravel\Job;
use Illuminate\Contracts\Container\Container;
use Illuminate\Database\QueryException;
use Illuminate\Queue\Failed\DatabaseFailedJobProvider;
use Illuminate\Queue\Failed\DatabaseUuidFailedJobProvider;
use Illuminate\Queue\Failed\FailedJobProviderInterface;
use Illuminate\Queue\Failed\NullFailedJobProvider;
use Illuminate\Support\Carbon;
use Throwable;

/**
 * Takes the place of Laravel's `queue.failer` while one job fails. It notes whether the job was recorded, records it
 * once, and records payloads without a uuid under the id of their job.
 */
final class FailedJobLog implements FailedJobProviderInterface
{
    private bool $isWritten = false;

    private ?object $provider = null;

    /** @param bool $mayBeThere an earlier worker has begun to record this job */
    public function __construct(
        private readonly Container $container,
        private readonly FailedDatabase $database,
        private readonly Job $job,
        private readonly bool $mayBeThere,
    ) {
    }

    /** @param Closure(): void $work */
    public function during(Closure $work): void
    {
        if (!$this->container->bound('queue.failer')) {
            $work();

            return;
        }
        $this->provider = $this->container->make('queue.failer');
        $this->container->instance('queue.failer', $this);
        try {
            $work();
        } finally {
            $this->container->instance('queue.failer', $this->provider);
        }
    }

    public function isWritten(): bool
    {
        return $this->isWritten;
    }

    public function log($connection, $queue, $payload, $exception)
    {
        // Another job may fail meanwhile, such as one that failed() runs at once.
        if ($payload !== $this->job->getRawBody()) {
            return $this->provider->log($connection, $queue, $payload, $exception);
        }
        // A command that has been called twice in a process listens twice.
        if ($this->isWritten || ($this->mayBeThere && $this->isThere())) {
            $this->isWritten = true;

            return $this->job->uuid();
        }
        $id = $this->write($connection, $queue, $payload, $exception);
        $this->isWritten = true;

        return $id;
    }

    public function ids($queue = null)
    {
        return $this->provider->ids($queue);
    }

    public function all()
    {
        return $this->provider->all();
    }

    public function find($id)
    {
        return $this->provider->find($id);
    }

    public function forget($id)
    {
        return $this->provider->forget($id);
    }

    public function flush($hours = null)
    {
        $this->provider->flush($hours);
    }

    /** @param array<mixed> $arguments */
    public function __call(string $method, array $arguments): mixed
    {
        return $this->provider->$method(...$arguments);
    }

    /** Asks the database, where a transaction may have been rolled back meanwhile. */
    public function isThere(): bool
    {
        // Its ids are numbers of its own.
        if ($this->provider instanceof DatabaseFailedJobProvider) {
            return $this->database->table()->where('payload', $this->job->getRawBody())->exists();
        }

        return $this->provider?->find($this->job->uuid()) !== null;
    }

    private function write(string $connection, string $queue, string $payload, Throwable $exception): mixed
    {
        if (str_contains((string) $exception, "\0")) {
            // PostgreSQL takes no such text.
            $exception = new FailedEarlier(str_replace("\0", '\0', (string) $exception));
        }
        $needsNoUuid = $this->provider instanceof DatabaseFailedJobProvider
            || $this->provider instanceof NullFailedJobProvider;
        if ($needsNoUuid || $this->job->content()->hasUuid) {
            return $this->provider->log($connection, $queue, $payload, $exception);
        }
        if (!$this->provider instanceof DatabaseUuidFailedJobProvider) {
            return $this->provider->log($connection, $queue, $this->wrapped($payload), $exception);
        }
        $row = [
            'uuid' => $this->job->uuid(),
            'connection' => $connection,
            'queue' => $queue,
            'payload' => $payload,
            'exception' => mb_scrub((string) $exception, 'UTF-8'),
            'failed_at' => Carbon::now(),
        ];
        try {
            $this->database->table()->insert($row);
        } catch (QueryException $error) {
            // Some databases take no text with such bytes.
            if (mb_check_encoding($payload, 'UTF-8') && !str_contains($payload, "\0")) {
                throw $error;
            }
            $this->database->table()->insert(['payload' => $this->wrapped($payload)] + $row);
        }

        return $this->job->uuid();
    }

    /** A payload that every provider can store. */
    private function wrapped(string $payload): string
    {
        return json_encode(['uuid' => $this->job->uuid(), 'base64' => base64_encode($payload)], JSON_THROW_ON_ERROR);
    }
}
