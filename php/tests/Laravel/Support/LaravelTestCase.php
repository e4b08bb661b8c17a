<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use DelayQueue;
use DelayQueue\Laravel\Queue;
use DelayQueue\Testing\InteractsWithDelayQueue;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use Illuminate\Contracts\Console\Kernel;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Foundation\Application;
use Illuminate\Queue\Console\WorkCommand;
use Illuminate\Support\Carbon;
use Illuminate\Support\Facades\Facade;
use PHPUnit\Framework\TestCase;

/** Each test has an application, a database, and a Redis without jobs. */
abstract class LaravelTestCase extends TestCase
{
    use InteractsWithDelayQueue;

    protected Application $app;

    protected string $base;

    /** @var list<Process> */
    private array $processes = [];

    protected function setUp(): void
    {
        $this->base = sys_get_temp_dir() . '/delayqueue-laravel-' . bin2hex(random_bytes(6));
        mkdir($this->base, 0o700);
        TestApp::prepare($this->base);
        preg_match('#unix://(.*)\?#', RedisServer::shared()->dsn(), $found);
        putenv("TEST_REDIS_SOCKET=$found[1]");
        putenv("TEST_APP=$this->base");
        putenv("TEST_JOURNAL=$this->base/journal");
        // The connection of the framework leads there, not the variable.
        putenv('DELAYQUEUE_DSN');
        // A test that pops by itself does not want to wait; one with workers says how they are to.
        $this->boot(['block_for' => 0]);
        $this->createTables();
    }

    protected function tearDown(): void
    {
        foreach ($this->processes as $process) {
            $process->kill();
        }
        Carbon::setTestNow();
        $this->app->flush();
        Facade::clearResolvedInstances();
        Facade::setFacadeApplication(null);
        foreach (['TEST_QUEUE', 'TEST_DATABASE', 'TEST_REDIS_PREFIX', 'TEST_REDIS_CLUSTERS'] as $name) {
            putenv($name);
        }
        exec('rm -rf ' . escapeshellarg($this->base));
    }

    /** @param array<string, mixed> $connection what the queue connection says, here and in processes started from now on */
    protected function boot(array $connection): void
    {
        putenv('TEST_QUEUE=' . json_encode($connection));
        $this->app = TestApp::make($this->base);
        // From 13 on the command listens once a process, and not anew for another application.
        method_exists(WorkCommand::class, 'flushState') && WorkCommand::flushState();
        // The framework's handlers are for processes that it owns.
        restore_error_handler();
        restore_exception_handler();
    }

    /** As another program sees it, with the prefix that the connection has by REDIS_PREFIX. */
    protected function delayQueue(string $queue = 'default', array $options = []): DelayQueue
    {
        return new DelayQueue($queue, null, $options + ['prefix' => 'test_dq']);
    }

    protected function queue(): Queue
    {
        $queue = $this->app['queue']->connection('delayqueue');
        self::assertInstanceOf(Queue::class, $queue);

        return $queue;
    }

    /** Runs a command in this process. */
    protected function artisan(string $command, array $arguments = [], int $exitCode = 0): string
    {
        $kernel = $this->app->make(Kernel::class);
        $actual = $kernel->call($command, $arguments);
        $output = $kernel->output();
        self::assertSame($exitCode, $actual, $output);

        return $output;
    }

    /** Runs a worker in this process. */
    protected function workUntilEmpty(string $command, int $tries = 1): void
    {
        $this->artisan($command, ['--stop-when-empty' => true, '--sleep' => 0, '--tries' => $tries]);
    }

    /** What is stored of a job that is pushed; it is cancelled again. */
    protected function bodyOf(object $job): string
    {
        $id = $this->queue()->push($job);
        $body = $this->queue()->find($id)->body;
        $this->queue()->cancel($id);

        return $body;
    }

    /** Starts a command in a process of its own. */
    protected function start(string ...$arguments): Process
    {
        return $this->processes[] = new Process([PHP_BINARY, dirname(__DIR__) . '/app/artisan', ...$arguments]);
    }

    /** A worker that waits for jobs already. */
    protected function startWaiting(string ...$arguments): Process
    {
        $worker = $this->start(...$arguments);
        $this->awaitWaiter();

        return $worker;
    }

    protected function awaitWaiter(string $queue = 'default', int $count = 1): void
    {
        $redis = $this->app['redis']->connection()->client();
        $redis->setOption(\Redis::OPT_PREFIX, '');
        Wait::until(static fn (): bool => $redis->zCard("test_dq:{{$queue}}:waiters") >= $count, 20, "$count workers that wait in $queue");
    }

    /** The journal's first line that matches, once it is there. */
    protected function awaitLine(string $pattern, float $seconds = 20): string
    {
        $find = static fn (): array => array_values(preg_grep($pattern, Journal::lines()) ?: []);
        try {
            Wait::until($find, $seconds, "$pattern in the journal");
        } catch (\RuntimeException $exception) {
            self::fail($exception->getMessage() . ', which says ' . implode('; ', Journal::lines()) . $this->complaints());
        }
        $this->addToAssertionCount(1);

        return $find()[0];
    }

    /** How many lines of the journal match. */
    protected function lines(string $pattern): int
    {
        return count(preg_grep($pattern, Journal::lines()) ?: []);
    }

    protected function log(): string
    {
        return (string) @file_get_contents("$this->base/storage/laravel.log");
    }

    /** @param class-string $event */
    protected function listenFor(string $event): \ArrayObject
    {
        $heard = new \ArrayObject();
        $this->app['events']->listen($event, static function (object $event) use ($heard): void {
            $heard[] = $event;
        });

        return $heard;
    }

    private function complaints(): string
    {
        $running = array_filter($this->processes, static fn (Process $process): bool => $process->isRunning());

        return implode('', array_map(static fn (Process $process): string => "\n" . $process->errors() . $process->said(), $running)) . "\n" . $this->log();
    }

    private function createTables(): void
    {
        $schema = $this->app['db']->connection()->getSchemaBuilder();
        $schema->create('failed_jobs', static function (Blueprint $table): void {
            $table->id();
            $table->string('uuid')->unique();
            $table->text('connection');
            $table->text('queue');
            $table->longText('payload');
            $table->longText('exception');
            $table->timestamp('failed_at')->useCurrent();
        });
        $schema->create('job_batches', static function (Blueprint $table): void {
            $table->string('id')->primary();
            $table->string('name');
            $table->integer('total_jobs');
            $table->integer('pending_jobs');
            $table->integer('failed_jobs');
            $table->text('failed_job_ids');
            $table->mediumText('options')->nullable();
            $table->integer('cancelled_at')->nullable();
            $table->integer('created_at');
            $table->integer('finished_at')->nullable();
        });
    }
}
