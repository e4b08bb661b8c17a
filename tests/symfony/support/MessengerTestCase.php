<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue;
use DelayQueue\Symfony\Transport\Transport;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Testing\InteractsWithDelayQueue;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\RedisClient;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\Tests\Symfony\App\Journal;
use DelayQueue\Tests\Symfony\App\Kernel;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

/** Transports, and workers in processes of their own, on a private Redis. */
abstract class MessengerTestCase extends TestCase
{
    use InteractsWithDelayQueue;

    protected Journal $journal;

    private string $folder;

    private ?Kernel $kernel = null;

    /** @var list<Process> */
    private array $processes = [];

    protected function setUp(): void
    {
        $this->folder = sys_get_temp_dir() . '/dqs-' . bin2hex(random_bytes(6));
        mkdir($this->folder, 0o700);
        $this->journal = new Journal("$this->folder/journal");
        $this->setEnvironment($this->environment());
    }

    protected function tearDown(): void
    {
        foreach ($this->processes as $process) {
            $process->kill();
        }
        $this->kernel?->shutdown();
        array_map(unlink(...), glob("$this->folder/*") ?: []);
        rmdir($this->folder);
        restore_exception_handler();
    }

    protected function dsn(string $query = ''): string
    {
        return 'delayqueue' . substr(RedisServer::shared()->dsn(), strlen('redis')) . ($query === '' ? '' : "&$query");
    }

    /**
     * A transport as the application has it, in this process.
     *
     * @param array<string, mixed> $options
     */
    protected function transport(string $name = 'orders', array $options = [], ?object $serializer = null): Transport
    {
        $options += Kernel::OPTIONS[$name] ?? [];
        return (new TransportFactory())->createTransport($this->dsn(), $options + ['transport_name' => $name], $serializer ?? new PhpSerializer());
    }

    /** @return list<Envelope> */
    protected static function received(iterable $envelopes): array
    {
        return is_array($envelopes) ? $envelopes : iterator_to_array($envelopes, false);
    }

    protected function service(string $id): object
    {
        if ($this->kernel === null) {
            $this->kernel = Kernel::make();
            $this->kernel->boot();
        }

        return $this->kernel->getContainer()->get($id);
    }

    protected function jobs(string $queue): DelayQueue
    {
        return $this->delayQueue($queue, ['format' => 'raw']);
    }

    /** A transport of the application, as its services have it. */
    protected function appTransport(string $name): Transport
    {
        return $this->service('test.receivers')->get($name);
    }

    /** A command of the application, started. */
    protected function start(string ...$arguments): Process
    {
        return $this->program(__DIR__ . '/../app/console.php', $arguments);
    }

    /**
     * @param list<string> $arguments
     * @param array<string, string> $environment added to the usual one
     */
    protected function program(string $file, array $arguments, array $environment = []): Process
    {
        $command = [PHP_BINARY, '-d', 'include_path=' . get_include_path(), $file, ...$arguments];

        return $this->processes[] = new Process($command, $environment + $this->environment() + getenv());
    }

    /** A file in the folder of this test. */
    protected function file(string $name): string
    {
        return "$this->folder/$name";
    }

    /** A command of the application, run to its end; what it said. */
    protected function command(string ...$arguments): string
    {
        $process = $this->start(...$arguments);
        $process->endInput();
        $said = $process->rest(60);
        $code = $process->exitCode(60);
        $this->assertSame(0, $code, $said . $process->errors());

        return $said . $process->errors();
    }

    /** Starts messenger:consume and waits until it has begun. */
    protected function worker(string ...$arguments): Process
    {
        $worker = $this->start('messenger:consume', ...$arguments);
        $said = '';
        Wait::until(static function () use ($worker, &$said): bool {
            $said .= $worker->said();

            return str_contains($said . $worker->errors(), 'Quit the worker') || !$worker->isRunning();
        }, 60.0, 'the worker begins');
        $this->assertTrue($worker->isRunning(), $said . $worker->errors());

        return $worker;
    }

    /** As worker(), and until it waits for messages: before it has made its worker, the framework does not hear signals. */
    protected function waitingWorker(string ...$transports): Process
    {
        $worker = $this->worker(...$transports);
        preg_match('#unix://(.*)\?#', RedisServer::shared()->dsn(), $found);
        $redis = new RedisClient($found[1]);
        $this->until(static fn (): bool => $redis->ask('ZCARD', "dq:{{$transports[0]}}:waiters") > 0, 'it waits');

        return $worker;
    }

    /** Waits for a deed in the journal, and returns its line. */
    protected function deed(string $deed, string $name, int $times = 1, float $seconds = 30.0): array
    {
        $find = fn (): array => array_values(array_filter($this->journal->read(), static fn (array $line): bool => [$line[0], $line[1]] === [$deed, $name]));
        try {
            return Wait::until(static fn (): ?array => $find()[$times - 1] ?? null, $seconds, "$deed $name");
        } catch (RuntimeException $exception) {
            $said = array_map(static fn (Process $process): string => "\n" . ($process->isRunning() ? '' : 'ended: ') . $process->said() . $process->errors(), $this->processes);
            self::fail($exception->getMessage() . ' in ' . json_encode($this->journal->read()) . implode('', $said));
        }
    }

    /** @return array<string, int> how often each message ended */
    protected function ended(): array
    {
        return array_count_values(array_column(array_filter($this->journal->read(), static fn (array $line): bool => $line[0] === 'end'), 1));
    }

    protected function until(callable $condition, string $what, float $seconds = 30.0): mixed
    {
        return Wait::until($condition, $seconds, $what);
    }

    /** @param array<string, string> $environment */
    protected function setEnvironment(array $environment): void
    {
        foreach ($environment as $name => $value) {
            putenv("$name=$value");
            $_SERVER[$name] = $_ENV[$name] = $value;
        }
    }

    /** @return array<string, string> */
    protected function environment(): array
    {
        return [
            'MESSENGER_DSN' => $this->dsn(), 'MESSENGER_DSN_2' => getenv('SECOND_DSN') ?: $this->dsn('prefix=second'),
            'APP_ENV' => 'test', 'APP_FOLDER' => $this->folder, 'DELAYQUEUE_DSN' => RedisServer::shared()->dsn(), 'SHELL_VERBOSITY' => '0',
        ];
    }
}
