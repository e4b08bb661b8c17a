<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use DelayQueue\ConnectionException;
use DelayQueue\Laravel\Identified;
use DelayQueue\RateLimited;
use Illuminate\Bus\Batchable;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use RuntimeException;
use Throwable;

/** A job that writes down when it begins and ends. */
class Deed implements ShouldQueue
{
    use Batchable;
    use Dispatchable;
    use Identified;
    use InteractsWithQueue;
    use Queueable;

    public $tries = 3;

    public $timeout;

    public $failOnTimeout = false;

    public $backoff = 0;

    public $retryUntil;

    public $maxExceptions;

    public function __construct(public string $name, public float $seconds = 0, public string $end = 'return')
    {
    }

    public function handle(): void
    {
        Journal::write("begin $this->name {$this->attempts()} " . getmypid());
        try {
            for ($until = microtime(true) + $this->seconds; microtime(true) < $until;) {
                usleep(5_000);
            }
        } catch (Throwable $thrown) {
            throw $this->end === 'wrap' ? new RuntimeException('a view failed', 0, $thrown) : $thrown;
        }
        Journal::write("end $this->name {$this->attempts()} " . sprintf('%.3f', microtime(true)));
        match ($this->end) {
            'return', 'wrap', 'kill', 'kill once' => null,
            'throw' => throw new RuntimeException("$this->name went wrong"),
            'lose the connection' => throw new ConnectionException('server has gone away'),
            'lose the database' => throw new RuntimeException('server has gone away'),
            'throw once' => $this->attempts() > 1 ?: throw new RuntimeException("$this->name went wrong"),
            'release' => $this->attempts() > 1 ?: $this->release(0),
            'release uncounted' => count(preg_grep("/^end $this->name /", Journal::lines())) > 2 ?: $this->job->release(0, countAttempt: false),
            'rate limit' => throw new RateLimited('1m'),
            'delete and rate limit' => $this->delete() ?? throw new RateLimited('1m'),
            'rate limit api' => throw new RateLimited('1m', 'api'),
            'fail in a transaction' => app('db')->transaction(fn () => $this->fail($this->failure())),
            'fail and roll back' => app('db')->transaction(function (): void {
                $this->fail($this->failure());
                throw new RuntimeException('rolled back');
            }),
            'leave a transaction' => app('db')->beginTransaction() ?? throw $this->failure(),
            'fail' => $this->fail($this->failure()),
        };
    }

    private function failure(): RuntimeException
    {
        return new RuntimeException("$this->name failed");
    }

    public function failed(?Throwable $exception = null): void
    {
        Journal::write("failed $this->name " . ($exception === null ? '' : $exception->getMessage()));
    }
}
