<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Symfony\Worker\RestartSignal;
use DelayQueue\Symfony\Worker\SharedWait;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Support\RedisClient;
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Component\Messenger\EventListener\StopWorkerOnRestartSignalListener;

/** messenger:stop-workers, which writes into a cache, and workers that wait in Redis meanwhile. */
final class RestartSignalTest extends MessengerTestCase
{
    /** @return iterable<string, array{string}> */
    public static function configurations(): iterable
    {
        yield 'with pcntl' => [''];
        yield 'without alarms, as in the PHP images of Docker' => ['disable_functions=pcntl_alarm'];
    }

    /** @dataProvider configurations */
    #[\PHPUnit\Framework\Attributes\DataProvider('configurations')]
    public function testStopWorkersEndsAnIdleWorkerSoon(string $ini): void
    {
        file_put_contents($this->file('more.ini'), $ini);
        $scanned = (string) getenv('PHP_INI_SCAN_DIR');
        $this->setEnvironment(['PHP_INI_SCAN_DIR' => "$scanned:{$this->file('')}"]);
        try {
            $workers = [$this->waitingWorker('mails'), $this->waitingWorker('orders', 'short')];
        } finally {
            $this->setEnvironment(['PHP_INI_SCAN_DIR' => $scanned]);
        }
        $this->command('messenger:stop-workers');
        $told = microtime(true);
        foreach ($workers as $worker) {
            $this->assertSame(0, $worker->exitCode(30), $worker->errors());
        }
        $this->assertLessThan(20.0, microtime(true) - $told); // a wait has 45 s
    }

    public function testAWaitThatLooksIntoTheCacheAsksRedisNoMoreOftenAndLetsOtherAlarmsThrough(): void
    {
        $cache = new ArrayAdapter();
        $transport = $this->transport();
        $wait = new SharedWait([$transport->receiver()], [], 60.0, restart: new RestartSignal($cache));
        $transport->receiver()->waitWith($wait);
        $alarms = 0;
        $isAsync = pcntl_async_signals(true);
        pcntl_signal(SIGALRM, function () use ($cache, &$alarms): void {
            $item = $cache->getItem(StopWorkerOnRestartSignalListener::RESTART_REQUESTED_TIMESTAMP_KEY);
            ++$alarms === 2 ? $cache->save($item->set(microtime(true))) : pcntl_alarm(1);
        });
        pcntl_alarm(1);
        $scripts = $this->scripts();
        try {
            $begun = microtime(true);
            $this->assertSame([], $transport->get());
            $this->assertLessThan(30.0, microtime(true) - $begun);
            $this->assertSame(2, $alarms);
            $this->assertLessThanOrEqual(3, $this->scripts() - $scripts, 'of one wait');
            $this->assertSame(0, pcntl_alarm(0));
            $this->assertInstanceOf(\Closure::class, pcntl_signal_get_handler(SIGALRM));
            $this->assertSame(2, $alarms, 'the handler is its own again');
        } finally {
            pcntl_alarm(0);
            pcntl_signal(SIGALRM, SIG_DFL);
            pcntl_async_signals($isAsync);
            $wait->end();
        }
    }

    public function testACacheThatFailsDisturbsNoWait(): void
    {
        $cache = $this->createStub(\Psr\Cache\CacheItemPoolInterface::class);
        $cache->method('getItem')->willThrowException(new \RuntimeException('away'));
        $transport = $this->transport();
        $wait = new SharedWait([$transport->receiver()], [], 1.5, restart: new RestartSignal($cache));
        $transport->receiver()->waitWith($wait);
        $this->assertSame([], $transport->get());
        $wait->end();
    }

    private function scripts(): int
    {
        preg_match('#unix://(.*)\?#', RedisServer::shared()->dsn(), $found);

        $stats = (string) (new RedisClient($found[1]))->ask('INFO', 'commandstats');

        return (int) preg_replace('/.*cmdstat_evalsha:calls=(\d+).*/s', '$1', $stats);
    }
}
