<?php

/**
 * Symfony Messenger with this extension's transport and with its own redis transport (phpredis), on a private Redis: dispatching and working
 * 1,000 messages, how late delayed ones are handled, and what an idle worker asks of Redis.
 *
 *     php -d extension=target/release/libdelayqueue.so bench/frameworks-symfony.php [--runs=5] [--messages=1000] [--idle=60]
 */

declare(strict_types=1);

use DelayQueue\Bench\RedisServer;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Symfony\Worker\WaitWhileIdle;
use DelayQueue\Tests\Support\Folder;
use Symfony\Component\EventDispatcher\EventDispatcher;
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

    public function __construct(private readonly bool $ours, string $dsn, int $prefetch = 1)
    {
        $this->factory = new TransportFactory();
        $factory = $ours ? $this->factory : new RedisTransportFactory();
        $this->transport = $factory->createTransport($dsn, ['transport_name' => 'orders'] + ($ours ? ['prefetch' => $prefetch] : []), new PhpSerializer());
    }

    /** µs per message. */
    public function dispatch(int $count): float
    {
        $begun = hrtime(true);
        for ($n = 0; $n < $count; $n++) {
            $this->transport->send(new Envelope(new CloseOrder($n)));
        }

        return (hrtime(true) - $begun) / 1e3 / $count;
    }

    public function dispatchSpread(int $count, float $seconds): void
    {
        for ($n = 0; $n < $count; $n++) {
            $delayMs = (int) (500 + 1000 * $seconds * $n / $count);
            $this->transport->send(new Envelope(new CloseOrder($n, microtime(true) + $delayMs / 1000), [new DelayStamp($delayMs)]));
        }
    }

    /** µs per message. */
    public function work(int $count): float
    {
        $begun = hrtime(true);
        $this->run(new StopWorkerOnMessageLimitListener($count));

        return (hrtime(true) - $begun) / 1e3 / $count;
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
        if ($this->ours) {
            $events->addSubscriber(new WaitWhileIdle($this->factory, min(45.0, max(1.0, $end - microtime(true)))));
        }
        $bus = new MessageBus([new HandleMessageMiddleware(new HandlersLocator([CloseOrder::class => [$handler]]))]);
        (new Worker(['orders' => $this->transport], $bus, $events))->run();
    }
}

$options = getopt('', ['runs:', 'messages:', 'idle:']);
[$runs, $messages, $seconds] = [(int) ($options['runs'] ?? 5), (int) ($options['messages'] ?? 1000), (float) ($options['idle'] ?? 60)];
$median = static function (array $values, float $part = 0.5): float {
    sort($values);

    return $values[(int) min(count($values) - 1, floor($part * count($values)))];
};
$found = [];
for ($run = 0; $run < $runs; $run++) {
    $names = ['redis', 'delayqueue', 'delayqueue, prefetch 16'];
    foreach ($run % 2 ? array_reverse($names) : $names as $name) {
        $folder = new Folder();
        $server = new RedisServer($folder->path);
        $port = $server->endpoint()->port;
        $side = $name === 'redis'
            ? new Side(false, "redis://127.0.0.1:$port/orders/workers/one")
            : new Side(true, "delayqueue://127.0.0.1:$port/0", str_contains($name, '16') ? 16 : 1);
        $found[$name]['dispatch, µs'][] = $side->dispatch($messages);
        $found[$name]['work, µs'][] = $side->work($messages);
        $side->late = [];
        $side->dispatchSpread(50, 3.0);
        $side->work(50);
        $found[$name]['late p50, ms'][] = $median($side->late);
        $found[$name]['late p99, ms'][] = $median($side->late, 0.99);
        $found[$name]['early, ms'][] = -min(0.0, min($side->late));
        $side->idle(1.0);
        $before = $server->commands();
        $begun = microtime(true);
        $side->idle($seconds);
        $found[$name]['idle, commands/s'][] = ($server->commands() - $before) / (microtime(true) - $begun);
        $server->stop();
        $folder->remove();
    }
}
printf("| median of %d | %s |\n|---|%s\n", $runs, implode(' | ', array_keys($found['redis'])), str_repeat('---|', count($found['redis'])));
foreach ($found as $name => $columns) {
    printf("| %s | %s |\n", $name, implode(' | ', array_map(static fn (array $values): string => sprintf('%.1f', $median($values)), $columns)));
}
