<?php

/**
 * Symfony Messenger with this extension's transport and with its own redis transport (phpredis), on a private Redis: dispatching and working
 * 1,000 messages, how late delayed ones are handled, and what an idle worker asks of Redis.
 *
 *     php -d extension=target/release/libdelayqueue.so bench/frameworks-symfony.php [--runs=5] [--messages=1000] [--idle=60] [--each-way-us=250]
 *
 * Prints a Markdown table of medians. CPU is that of the client and, behind the plus, of Redis. The transports take turns after every quarter of
 * the messages, so that what else the machine does meets them alike. --each-way-us puts a network between client and Redis: a proxy that adds so much.
 */

declare(strict_types=1);

use DelayQueue\Bench\Cpu;
use DelayQueue\Bench\Delay;
use DelayQueue\Bench\RedisServer;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Symfony\Worker\WaitWhileIdle;
use DelayQueue\Tests\Support\Folder;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\HttpKernel\Kernel;
use Symfony\Component\Messenger\Bridge\Redis\Transport\RedisTransportFactory;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\EventListener\StopWorkerOnMessageLimitListener;
use Symfony\Component\Messenger\Handler\HandlersLocator;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\HandleMessageMiddleware;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;
use Symfony\Component\Messenger\Transport\TransportInterface;
use Symfony\Component\Messenger\Worker;

require __DIR__ . '/autoload.php';
require dirname(__DIR__) . '/tests/symfony/load.php';

final class CloseOrder
{
    public function __construct(public int $order, public float $due = 0.0)
    {
    }
}

/** One transport with its worker. */
final class Side
{
    private readonly TransportInterface $transport;

    /** @var list<float> ms from due to handler */
    public array $late = [];

    private readonly TransportFactory $factory;

    /** @param int $prefetch 0: Messenger's own redis transport */
    public function __construct(private readonly RedisServer $server, int $port, private readonly int $prefetch)
    {
        $this->factory = new TransportFactory();
        [$factory, $dsn, $options] = $prefetch > 0
            ? [$this->factory, "delayqueue://127.0.0.1:$port/0", ['queue' => "orders-$prefetch", 'prefetch' => $prefetch]]
            : [new RedisTransportFactory(), "redis://127.0.0.1:$port/orders/workers/one", ['delete_after_ack' => true]]; // as without a word from Symfony 6 on
        $this->transport = $factory->createTransport($dsn, ['transport_name' => 'orders'] + $options, new PhpSerializer());
    }

    /** @return array{float, float, float} */
    public function dispatch(int $count): array
    {
        return $this->timed(function () use ($count): void {
            for ($n = 0; $n < $count; $n++) {
                $this->transport->send(new Envelope(new CloseOrder($n)));
            }
        }, $count);
    }

    public function dispatchSpread(int $count, float $seconds): void
    {
        for ($n = 0; $n < $count; $n++) {
            $delayMs = (int) (500 + 1000 * $seconds * $n / $count);
            $this->transport->send(new Envelope(new CloseOrder($n, microtime(true) + $delayMs / 1000), [new DelayStamp($delayMs)]));
        }
    }

    /** @return array{float, float, float} */
    public function work(int $count): array
    {
        return $this->timed(fn () => $this->run(new StopWorkerOnMessageLimitListener($count)), $count);
    }

    public function idle(float $seconds): void
    {
        $end = microtime(true) + $seconds;
        $this->run(null, $end);
    }

    private function run(?StopWorkerOnMessageLimitListener $limit, float $end = INF): void
    {
        $handler = function (CloseOrder $message): void {
            $this->late[] = 1000 * (microtime(true) - $message->due);
        };
        $events = new EventDispatcher();
        if ($limit !== null) {
            $events->addSubscriber($limit);
        }
        $events->addListener(WorkerRunningEvent::class, static function (WorkerRunningEvent $event) use ($end): void {
            microtime(true) < $end ?: $event->getWorker()->stop();
        });
        if ($this->prefetch > 0) {
            $events->addSubscriber(new WaitWhileIdle($this->factory, min(45.0, max(1.0, $end - microtime(true)))));
        }
        $bus = new MessageBus([new HandleMessageMiddleware(new HandlersLocator([CloseOrder::class => [$handler]]))]);
        (new Worker(['orders' => $this->transport], $bus, $events))->run();
    }

    /** @return array{float, float, float} time, CPU here and CPU of Redis, in microseconds per message */
    private function timed(callable $work, int $count): array
    {
        [$redis, $cpu, $begun] = [$this->redisUs(), Cpu::ofProcessUs((int) getmypid()), hrtime(true)];
        $work();
        $used = [(hrtime(true) - $begun) / 1e3, Cpu::ofProcessUs((int) getmypid()) - $cpu, $this->redisUs() - $redis];

        return array_map(static fn (float $us): float => $us / $count, $used);
    }

    private function redisUs(): float
    {
        return Cpu::ofProcessUs($this->server->endpoint()->pid);
    }
}

$options = getopt('', ['runs:', 'messages:', 'idle:', 'each-way-us:']);
[$runs, $messages, $seconds] = [(int) ($options['runs'] ?? 5), (int) ($options['messages'] ?? 1000), (float) ($options['idle'] ?? 60)];
$median = static function (array $values, float $part = 0.5): float {
    sort($values);

    return $values[(int) min(count($values) - 1, floor($part * count($values)))];
};
$folder = new Folder();
$server = new RedisServer($folder->path);
$delay = isset($options['each-way-us']) ? new Delay(Delay::compile($folder->path), $server->port, (int) $options['each-way-us']) : null;
$sides = array_map(
    static fn (int $prefetch): Side => new Side($server, ($delay ?? $server)->port, $prefetch),
    ['redis' => 0, 'delayqueue' => 1, 'delayqueue, `prefetch: 16`' => 16],
);
$found = [];
$note = static function (string $name, string $what, array $used) use (&$found): void {
    foreach (['', ' CPU', ' Redis'] as $part => $kind) {
        $found[$name][$what . $kind][] = $used[$part];
    }
};
foreach ($sides as $side) {
    // Connections, scripts and classes are there before it counts.
    $side->dispatch(10);
    $side->work(10);
}
for ($run = 0; $run < $runs; $run++) {
    foreach (['dispatch', 'work'] as $what) {
        for ($turn = 0; $turn < 4; $turn++) {
            $first = ($run + $turn) % count($sides);
            foreach ([...array_slice($sides, $first), ...array_slice($sides, 0, $first)] as $name => $side) {
                $note($name, $what, $side->$what(intdiv($messages, 4)));
            }
        }
    }
    foreach ($sides as $name => $side) {
        $side->late = [];
        $side->dispatchSpread(50, 3.0);
        $side->work(50);
        $found[$name]['late p50'][] = $median($side->late);
        $found[$name]['late p99'][] = $median($side->late, 0.99);
        $found[$name]['earliest'][] = min($side->late);
    }
}
printf("Symfony %s, PHP %s, load %.1f\n\n", Kernel::VERSION, PHP_VERSION, sys_getloadavg()[0]);
echo "| transport | dispatch µs (CPU) | work µs (CPU) | late p50 ms | p99 ms | earliest ms | idle commands/s |\n|---|---|---|---|---|---|---|\n";
foreach ($sides as $name => $side) {
    $row = array_map($median, $found[$name]);
    $side->idle(1.0);
    [$before, $begun] = [$server->commands(), microtime(true)];
    $side->idle($seconds);
    $idle = ($server->commands() - $before) / (microtime(true) - $begun);
    echo "| $name |";
    foreach (['dispatch', 'work'] as $what) {
        printf(' %.0f (%.0f + %.0f) |', $row[$what], $row["$what CPU"], $row["$what Redis"]);
    }
    printf(" %.1f | %.1f | %.1f | %.2f |\n", $row['late p50'], $row['late p99'], $row['earliest'], $idle);
}
$server->stop();
$folder->remove();
