<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Http\Notifier;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Tests\Support\Machine;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\CurlHttpClient;
use Symfony\Component\HttpClient\NativeHttpClient;
use Symfony\Contracts\HttpClient\HttpClientInterface;

/** Receivers that would hold a worker, fill its memory or send it elsewhere; over both transports. */
final class NotifierLimitsTest extends TestCase
{
    use OnAnyStore;

    /** Seconds by which an attempt has ended; none of these would end by itself. */
    private const PATIENCE = 20.0;

    private Receiver $receiver;

    private DelayQueue $queue;

    protected function setUp(): void
    {
        $this->receiver = new Receiver();
        $this->queue = $this->delayQueue('notify', ['backoff' => Backoff::fixed('1m'), 'maxAttempts' => 2]);
    }

    /** @return array<string, array{HttpClientInterface}> */
    public static function transports(): array
    {
        return ['curl' => [new CurlHttpClient()], 'native' => [new NativeHttpClient()]];
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testAMissingAnswerCountsAsFailure(HttpClientInterface $client): void
    {
        $this->receiver->answer(['hang']);
        $this->assertFailed($this->notify($client, timeout: 0.3), ': ');
        $this->assertStringNotContainsString('s3cret', (string) $this->queue->peek('a')?->lastError);
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testAnAnswerThatNeverEndsIsReadNoFurtherThanNeeded(HttpClientInterface $client): void
    {
        $memory = memory_get_peak_usage();
        $this->receiver->answer([500, [], 'endless']);
        $this->assertFailed($this->notify($client), ' answered 500: ' . rtrim(str_repeat('endless ', 25)) . '…');
        $this->assertLessThan(16 << 20, memory_get_peak_usage() - $memory);

        $this->receiver->answer([200, [], 'endless']);
        $this->assertDone($this->notify($client));
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testAnAnswerThatTricklesIsCutOff(HttpClientInterface $client): void
    {
        $this->receiver->answer([500, [], 'slow']);
        $this->assertFailed($this->notify($client, maxDuration: 1.0), ' answered 500');

        $this->receiver->answer([200, [], 'slow']);
        $this->assertDone($this->notify($client, maxDuration: 1.0));
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testAStatusWithoutTheRestCounts(HttpClientInterface $client): void
    {
        $this->receiver->answer([404, [], 'hang']);
        $this->assertFailed($this->notify($client, timeout: 1.0), ' answered 404');

        $this->receiver->answer([201, [], 'hang']);
        $this->assertDone($this->notify($client, timeout: 1.0));
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testRedirectsAreNotFollowed(HttpClientInterface $client): void
    {
        $other = new Receiver();
        $targets = [
            "http://127.0.0.1:{$this->receiver->port}/same", "http://127.0.0.1:$other->port/other",
            "http://localhost:$other->port/private", '/relative',
        ];
        $expected = 0;
        foreach ([301, 302, 303, 307, 308] as $status) {
            foreach ($targets as $target) {
                $this->receiver->answer([$status, ['Location' => $target]]);
                $this->assertFailed($this->notify($client), " answered $status, and redirects are not followed");
                $expected++;
            }
        }

        $this->assertSame([$expected, 0], [$this->receiver->connections(), $other->connections()]);
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testNobodyThereIsAFailureThatSaysSo(HttpClientInterface $client): void
    {
        $port = $this->receiver->port;
        unset($this->receiver);
        $seconds = $this->notify($client, port: $port);

        $this->assertFailed($seconds, ': ');
        $error = (string) $this->queue->peek('a')?->lastError;
        $this->assertStringContainsString("http://127.0.0.1:$port: ", $error);
        $this->assertStringNotContainsString('s3cret', $error);
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testProxiesOfTheEnvironmentAreLeftAside(HttpClientInterface $client): void
    {
        $proxy = new Receiver();
        $_SERVER['http_proxy'] = "http://127.0.0.1:$proxy->port";
        try {
            $this->assertDone($this->notify($client));
        } finally {
            unset($_SERVER['http_proxy']);
        }

        $this->assertSame([1, 0], [$this->receiver->connections(), $proxy->connections()]);
        $this->assertSame('identity', $this->receiver->request()['headers']['accept-encoding']);
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testTheTimeoutOfTheJobEndsAnAttempt(HttpClientInterface $client): void
    {
        $this->receiver->answer([200, [], 'slow']);
        $this->assertFailed($this->notify($client, jobTimeout: '500ms'), 'timed out after 0.5 s');
    }

    /** @return float seconds */
    private function notify(
        HttpClientInterface $client,
        float $timeout = 60.0,
        float $maxDuration = 60.0,
        ?int $port = null,
        string|int $jobTimeout = 0,
    ): float {
        $port ??= $this->receiver->port;
        $notifier = new Notifier(
            ["127.0.0.1:$port"],
            allowHttp: true,
            privateNetworks: ['127.0.0.1'],
            timeout: $timeout,
            maxDuration: $maxDuration,
            client: $client,
        );
        $this->queue->cancel('a');
        $this->queue->push(['url' => "http://127.0.0.1:$port/?token=s3cret", 'body' => 1], id: 'a', timeout: $jobTimeout);
        $started = microtime(true);
        $this->assertSame(1, $this->runDueJobs($notifier, $this->queue));

        return microtime(true) - $started;
    }

    private function assertFailed(float $seconds, string $reason): void
    {
        $this->assertLessThan(self::PATIENCE, Machine::without($seconds));
        $this->assertDelayed('a', 'notify');
        $this->assertStringContainsString($reason, (string) $this->queue->peek('a')?->lastError);
    }

    private function assertDone(float $seconds): void
    {
        $this->assertLessThan(self::PATIENCE, Machine::without($seconds));
        $this->assertQueueEmpty('notify');
    }
}
