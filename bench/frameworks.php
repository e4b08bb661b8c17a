<?php

/**
 * Laravel's own redis driver beside this project's, in the same application on the same Redis, in turns:
 *
 *     PHP_INI_SCAN_DIR=target/php.d php bench/frameworks.php [--jobs=1000] [--seconds=20] [--runs=3]
 *
 * Prints a Markdown table of medians. CPU is that of the client and, behind the plus, of Redis: on a busy machine it says more than the time.
 * Dispatching takes turns after every quarter of the jobs, so that what else the machine does meets both drivers alike.
 * LARAVEL_AUTOLOAD names another Laravel than Debian's.
 */

declare(strict_types=1);

use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Laravel\Support\TestApp;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Console\Kernel;
use Illuminate\Contracts\Queue\Queue;
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

    /** @var list<array{float, float, float}> when each job was due, when it began, and the CPU seconds of the process by then */
    public static array $runs = [];

    public function __construct(public float $dueAt = 0, public string $order = '')
    {
        $this->order = $order !== '' ? $order : str_repeat('order ', 30);
    }

    public function handle(): void
    {
        self::$runs[] = [$this->dueAt, microtime(true), Driver::cpu()];
    }
}

/** One driver: its connection, the command that works it. */
final class Driver
{
    public function __construct(
        private readonly Application $app,
        public readonly string $name,
        private readonly string $connection,
        private readonly string $command,
    ) {
    }

    /** Connections, scripts and classes are there before it counts. */
    public function begin(): void
    {
        $queue = $this->queue();
        $queue->push(new BenchJob());
        $queue->bulk([new BenchJob()]);
        $queue->clear('default');
    }

    /** @return array<string, float> */
    public function dispatch(int $jobs): array
    {
        $queue = $this->queue();
        $bulk = array_map(static fn (): BenchJob => new BenchJob(), range(1, $jobs));
        $bulked = $this->timed(static fn () => $queue->bulk($bulk), $jobs);
        $queue->clear('default');
        $dispatched = $this->timed(static function () use ($queue, $jobs): void {
            for ($n = 0; $n < $jobs; ++$n) {
                $queue->push(new BenchJob());
            }
        }, $jobs);
        $queue->clear('default');

        return [
            'dispatch' => $dispatched[0], 'dispatch CPU' => $dispatched[1], 'dispatch Redis' => $dispatched[2],
            'bulk' => $bulked[0], 'bulk CPU' => $bulked[1], 'bulk Redis' => $bulked[2],
        ];
    }

    /** @return array<string, float> */
    public function work(int $jobs): array
    {
        $this->queue()->bulk(array_map(static fn (): BenchJob => new BenchJob(), range(1, $jobs)));
        [$commands, $redis] = [$this->commands(), $this->redisCpu()];
        $this->start('--stop-when-empty', '--sleep=0')->exitCode(120);
        $runs = self::written();
        $worked = array_map(static fn (int $key): float => (end($runs)[$key] - $runs[0][$key]) * 1e6 / (count($runs) - 1), [1, 2]);

        return [
            'work' => $worked[0], 'work CPU' => $worked[1], 'work Redis' => ($this->redisCpu() - $redis) * 1e6 / $jobs,
            'commands' => ($this->commands() - $commands) / $jobs,
        ];
    }

    /** @return array<string, float> */
    public function wait(int $seconds): array
    {
        return ['idle' => $this->idle($seconds)] + $this->lateness($seconds);
    }

    /** The CPU seconds of this process. */
    public static function cpu(): float
    {
        $used = getrusage();

        return $used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec'] + ($used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']) / 1e6;
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
        $queue = $this->queue();
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

    private function queue(): Queue
    {
        return $this->app['queue']->connection($this->connection);
    }

    private function start(string ...$options): Process
    {
        @unlink((string) getenv('TEST_JOURNAL'));

        return new Process([PHP_BINARY, __FILE__, 'worker', $this->command, $this->connection, ...$options]);
    }

    /** @return list<array{float, float, float}> */
    private static function written(): array
    {
        return json_decode((string) file_get_contents((string) getenv('TEST_JOURNAL')), true);
    }

    private function commands(): int
    {
        return (int) $this->app['redis']->connection()->client()->info('stats')['total_commands_processed'];
    }

    private function redisCpu(): float
    {
        $cpu = $this->app['redis']->connection()->client()->info('cpu');

        return $cpu['used_cpu_sys'] + $cpu['used_cpu_user'];
    }

    /** @return array{float, float, float} time, CPU here and CPU of Redis, in microseconds per job */
    private function timed(callable $work, int $jobs): array
    {
        [$redis, $cpu, $started] = [$this->redisCpu(), self::cpu(), hrtime(true) / 1e9];
        $work();
        $used = [hrtime(true) / 1e9 - $started, self::cpu() - $cpu, $this->redisCpu() - $redis];

        return array_map(static fn (float $seconds): float => $seconds * 1e6 / $jobs, $used);
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

$options = getopt('', ['jobs:', 'seconds:', 'runs:']);
$base = sys_get_temp_dir() . '/delayqueue-bench-' . bin2hex(random_bytes(6));
TestApp::prepare($base);
preg_match('#unix://(.*)\?#', RedisServer::shared()->dsn(), $found);
putenv("TEST_REDIS_SOCKET=$found[1]");
putenv("TEST_APP=$base");
putenv("TEST_JOURNAL=$base/journal");
$app = TestApp::make($base);
$drivers = [
    new Driver($app, 'redis, `queue:work`', 'redis', 'queue:work'),
    new Driver($app, 'delayqueue, `queue:work`', 'delayqueue', 'queue:work'),
    new Driver($app, 'delayqueue, `delayqueue:work`', 'delayqueue', 'delayqueue:work'),
];
printf("Laravel %s, PHP %s, load %.1f\n\n", Application::VERSION, PHP_VERSION, sys_getloadavg()[0]);
$jobs = (int) ($options['jobs'] ?? 1000);
$rows = [];
$note = static function (Driver $driver, array $figures) use (&$rows): void {
    foreach ($figures as $figure => $value) {
        $rows[$driver->name][$figure][] = $value;
    }
};
array_map(static fn (Driver $driver) => $driver->begin(), $drivers);
for ($run = 0; $run < (int) ($options['runs'] ?? 3); ++$run) {
    for ($turn = 0; $turn < 4; ++$turn) {
        foreach ($drivers as $driver) {
            $note($driver, $driver->dispatch(intdiv($jobs, 4)));
        }
        $drivers = [...array_slice($drivers, 1), $drivers[0]];
    }
    foreach ($drivers as $driver) {
        $note($driver, $driver->work($jobs));
    }
}
usort($drivers, static fn (Driver $one, Driver $other): int => $other->name <=> $one->name);
echo "| driver | dispatch µs (CPU) | bulk µs (CPU) | work µs (CPU) | Redis commands per job | late p50 ms | p99 ms | earliest ms | idle commands/s |\n";
echo "|---|---|---|---|---|---|---|---|---|\n";
foreach ($drivers as $driver) {
    $row = array_map(static function (array $values): float {
        sort($values);

        return $values[intdiv(count($values), 2)];
    }, $rows[$driver->name]) + $driver->wait((int) ($options['seconds'] ?? 20));
    echo "| $driver->name |";
    foreach (['dispatch', 'bulk', 'work'] as $figure) {
        printf(' %.0f (%.0f + %.0f) |', $row[$figure], $row["$figure CPU"], $row["$figure Redis"]);
    }
    printf(" %.1f | %.1f | %.1f | %.1f | %.2f |\n", $row['commands'], $row['p50'], $row['p99'], $row['earliest'], $row['idle']);
}
exec('rm -rf ' . escapeshellarg($base));
