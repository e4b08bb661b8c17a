<?php

/**
 * Laravel's own redis driver beside this project's, in the same application on the same Redis, one after the other:
 *
 *     PHP_INI_SCAN_DIR=target/php.d php bench/frameworks.php [--jobs=1000] [--seconds=20]
 *
 * Prints a Markdown table. LARAVEL_AUTOLOAD names another Laravel than Debian's.
 */

declare(strict_types=1);

use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Laravel\Support\TestApp;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Console\Kernel;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Application;
use Illuminate\Queue\Events\WorkerStopping;
use Illuminate\Queue\InteractsWithQueue;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\NullOutput;

require __DIR__ . '/../php/tests/Laravel/bootstrap.php';

/** An order of about 200 bytes, which knows when it is due. */
final class BenchJob implements ShouldQueue
{
    use InteractsWithQueue;
    use Queueable;

    public $tries = 1;

    /** @var list<array{float, float}> when each job was due, and when it began */
    public static array $runs = [];

    public function __construct(public float $dueAt = 0, public string $order = '')
    {
        $this->order = $order !== '' ? $order : str_repeat('order ', 30);
    }

    public function handle(): void
    {
        self::$runs[] = [$this->dueAt, microtime(true)];
    }
}

/** One driver: its connection, the command that works it. */
final class Driver
{
    private Application $app;

    public function __construct(public readonly string $name, private readonly string $connection, private readonly string $command)
    {
    }

    /** @return array{dispatch: float, bulk: float, work: float, commands: float, p50: float, p99: float, earliest: float, idle: float} */
    public function measure(int $jobs, int $seconds): array
    {
        RedisServer::shared()->flush();
        $this->app = TestApp::make((string) getenv('TEST_APP'));
        $queue = $this->app['queue']->connection($this->connection);
        $dispatched = self::timed(static function () use ($queue, $jobs): void {
            for ($n = 0; $n < $jobs; ++$n) {
                $queue->push(new BenchJob());
            }
        });
        $before = $this->commands();
        $runs = $this->work('--stop-when-empty', '--sleep=0');
        $commands = $this->commands() - $before;
        $bulk = array_map(static fn (): BenchJob => new BenchJob(), range(1, $jobs));
        $bulked = self::timed(static fn () => $queue->bulk($bulk));
        $queue->clear('default');

        return [
            'dispatch' => $dispatched * 1e6 / $jobs,
            'bulk' => $bulked * 1e6 / $jobs,
            'work' => (end($runs)[1] - $runs[0][1]) * 1e6 / (count($runs) - 1),
            'commands' => $commands / $jobs,
            'idle' => $this->idle($seconds),
        ] + $this->lateness($seconds);
    }

    /** Commands that Redis executes in a second for a worker that has nothing to do. */
    private function idle(int $seconds): float
    {
        $worker = $this->start();
        // The start of the worker is not measured.
        sleep(3);
        $before = $this->commands();
        sleep($seconds);
        $commands = $this->commands() - $before;
        $worker->kill();

        return $commands / $seconds;
    }

    /** @return array{p50: float, p99: float, earliest: float} milliseconds, of jobs for an idle worker whose times are spread */
    private function lateness(int $seconds): array
    {
        $queue = $this->app['queue']->connection($this->connection);
        $worker = $this->start();
        sleep(2);
        $count = $seconds * 5;
        for ($n = 0; $n < $count; ++$n) {
            $dueAt = microtime(true) + 1 + $n / 5 + 0.037 * ($n % 5);
            $queue->later(now()->setTimestamp((int) $dueAt)->setMicrosecond((int) (fmod($dueAt, 1) * 1e6)), new BenchJob($dueAt));
        }
        Wait::until(static fn (): bool => $queue->size() === 0, $seconds + 30, 'the end of all delayed jobs');
        $worker->signal(SIGTERM);
        $worker->exitCode(20);
        $late = array_map(static fn (array $run): float => ($run[1] - $run[0]) * 1000, self::written());
        sort($late);

        return ['p50' => $late[intdiv(count($late), 2)], 'p99' => $late[(int) (count($late) * 0.99) - 1], 'earliest' => $late[0]];
    }

    /** @return list<array{float, float}> */
    private function work(string ...$options): array
    {
        $this->start(...$options)->exitCode(120);

        return self::written();
    }

    private function start(string ...$options): Process
    {
        @unlink((string) getenv('TEST_JOURNAL'));

        return new Process([PHP_BINARY, __FILE__, 'worker', $this->command, $this->connection, ...$options]);
    }

    /** @return list<array{float, float}> */
    private static function written(): array
    {
        return json_decode((string) file_get_contents((string) getenv('TEST_JOURNAL')), true);
    }

    private function commands(): int
    {
        return (int) $this->app['redis']->connection()->client()->info('stats')['total_commands_processed'];
    }

    private static function timed(callable $work): float
    {
        $started = hrtime(true);
        $work();

        return (hrtime(true) - $started) / 1e9;
    }
}

if (($argv[1] ?? '') === 'worker') {
    $app = TestApp::make((string) getenv('TEST_APP'));
    $app['events']->listen(WorkerStopping::class, static fn () => file_put_contents((string) getenv('TEST_JOURNAL'), json_encode(BenchJob::$runs)));
    $input = ['command' => $argv[2], 'connection' => $argv[3]];
    foreach (array_slice($argv, 4) as $option) {
        [$name, $value] = explode('=', $option, 2) + [1 => true];
        $input[$name] = $value;
    }
    exit($app->make(Kernel::class)->handle(new ArrayInput($input), new NullOutput()));
}

$options = getopt('', ['jobs:', 'seconds:']);
$base = sys_get_temp_dir() . '/delayqueue-bench-' . bin2hex(random_bytes(6));
TestApp::prepare($base);
preg_match('#unix://(.*)\?#', RedisServer::shared()->dsn(), $found);
putenv("TEST_REDIS_SOCKET=$found[1]");
putenv("TEST_APP=$base");
putenv("TEST_JOURNAL=$base/journal");
$drivers = [
    new Driver('redis, `queue:work`', 'redis', 'queue:work'),
    new Driver('delayqueue, `queue:work`', 'delayqueue', 'queue:work'),
    new Driver('delayqueue, `delayqueue:work`', 'delayqueue', 'delayqueue:work'),
];
printf("Laravel %s, PHP %s, load %.1f\n\n", Application::VERSION, PHP_VERSION, sys_getloadavg()[0]);
echo "| driver | dispatch µs | bulk µs | work µs | Redis commands per job | late p50 ms | p99 ms | earliest ms | idle commands/s |\n";
echo "|---|---|---|---|---|---|---|---|---|\n";
foreach ($drivers as $driver) {
    $row = $driver->measure((int) ($options['jobs'] ?? 1000), (int) ($options['seconds'] ?? 20));
    printf(
        "| %s | %.0f | %.0f | %.0f | %.1f | %.1f | %.1f | %.1f | %.2f |\n",
        $driver->name,
        ...array_map(static fn (string $key): float => $row[$key], ['dispatch', 'bulk', 'work', 'commands', 'p50', 'p99', 'earliest', 'idle']),
    );
}
exec('rm -rf ' . escapeshellarg($base));
