<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Http\Notifier;
use DelayQueue\Tests\OnAnyStore;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\CurlHttpClient;
use Symfony\Component\HttpClient\DecoratorTrait;
use Symfony\Component\HttpClient\NativeHttpClient;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use Symfony\Contracts\HttpClient\ResponseInterface;

/** Where connections go, and where they do not. */
final class NotifierAddressesTest extends TestCase
{
    use OnAnyStore;

    private Receiver $receiver;

    private DelayQueue $queue;

    protected function setUp(): void
    {
        $this->receiver = new Receiver();
        $this->queue = $this->delayQueue('notify', ['backoff' => Backoff::fixed('1m')]);
    }

    /** @return array<string, array{string, string, 2?: list<string>}> */
    public static function privateHosts(): array
    {
        $notPublic = 'which is not a public address';
        $number = 'its host is a number, and not an IPv4 address in the usual form';

        return [
            'a name of the system' => ['localhost', $notPublic],
            'loopback' => ['127.0.0.1', $notPublic],
            'all addresses' => ['0.0.0.0', $notPublic],
            'IPv6 loopback' => ['[::1]', $notPublic],
            'IPv4 in IPv6' => ['[::ffff:127.0.0.1]', $notPublic],
            'the same in hex' => ['[::FFFF:7f00:1]', $notPublic],
            'the same through NAT64' => ['[64:ff9b::7f00:1]', $notPublic],
            'the same through 6to4' => ['[2002:7f00:1::]', $notPublic],
            'decimal' => ['2130706433', $number],
            'hex' => ['0x7f000001', $number],
            'octal' => ['0177.0.0.1', $number],
            'short' => ['127.1', $number],
            'mixed' => ['127.0.0x1', $number],
            'a name at loopback' => ['receiver.test', $notPublic, ['127.0.0.1']],
            'a name at a private address' => ['receiver.test', $notPublic, ['10.1.2.3']],
            'a name at the cloud\'s metadata' => ['receiver.test', $notPublic, ['169.254.169.254']],
            'a name at carrier NAT' => ['receiver.test', $notPublic, ['100.64.0.1']],
            'a name at IPv4 in IPv6' => ['receiver.test', $notPublic, ['::ffff:127.0.0.1']],
            'a name at a link-local address' => ['receiver.test', $notPublic, ['fe80::1']],
            'a name with one private address' => ['receiver.test', $notPublic, ['8.8.8.8', '127.0.0.1']],
            'a name at what is no address' => ['receiver.test', $notPublic, ['2130706433']],
        ];
    }

    /**
     * @dataProvider privateHosts
     *
     * @param list<string>|null $addresses of the host; null: as the system says
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('privateHosts')]
    public function testWhatIsNotPublicIsBuriedWithoutAConnection(string $host, string $reason, ?array $addresses = null): void
    {
        $this->push("http://$host:{$this->receiver->port}/");
        $resolver = $addresses === null ? null : static fn (): array => $addresses;

        $this->runDueJobs(new Notifier(["*:{$this->receiver->port}"], allowHttp: true, resolver: $resolver), 'notify');

        $this->assertBuried('a', 'notify', $reason);
        $this->assertSame(0, $this->receiver->connections());
    }

    public function testAnAllowedNetworkOpensNoOther(): void
    {
        $this->push("http://localhost:{$this->receiver->port}/");
        $this->runDueJobs(new Notifier(["*:{$this->receiver->port}"], allowHttp: true, privateNetworks: ['127.0.0.2/31']), 'notify');
        $this->assertBuried('a', 'notify', 'not a public address');

        $this->queue->kick();
        $networks = ['127.0.0.0/31', '::1'];
        $this->runDueJobs(new Notifier(["*:{$this->receiver->port}"], allowHttp: true, privateNetworks: $networks), 'notify');
        $this->assertQueueEmpty('notify');
    }

    /** @return array<string, array{HttpClientInterface}> */
    public static function transports(): array
    {
        return ['curl' => [new CurlHttpClient()], 'native' => [new NativeHttpClient()]];
    }

    /**
     * The system knows "localhost", and a receiver listens there: whoever asked it again would get through.
     *
     * @dataProvider transports
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testTheConnectionGoesToTheAddressThatWasLookedAt(HttpClientInterface $client): void
    {
        $asked = 0;
        $answers = [['127.0.0.2'], ['127.0.0.1']];
        $notifier = $this->notifier($client, static function (string $host) use (&$asked, $answers): array {
            self::assertSame('localhost', $host);

            return $answers[$asked++];
        });
        $this->push("http://LOCALHOST:{$this->receiver->port}/");

        $this->runDueJobs($notifier, 'notify');
        $this->assertSame([1, 0], [$asked, $this->receiver->connections()]);
        $this->assertDelayed('a', 'notify');

        $this->travel('61s');
        $this->runDueJobs($notifier, 'notify');
        $this->assertSame([2, 1], [$asked, $this->receiver->connections()]);
        $this->assertSame("localhost:{$this->receiver->port}", $this->receiver->request()['headers']['host']);
        $this->assertQueueEmpty('notify');
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testAttemptsGoRoundTheAddressesOfAName(HttpClientInterface $client): void
    {
        $this->push("http://receiver.test:{$this->receiver->port}/");
        $notifier = $this->notifier($client, static fn (): array => ['::1', '127.0.0.2', '127.0.0.1']);

        $this->runDueJobs($notifier, 'notify');
        $this->assertDelayed('a', 'notify');
        $this->travel('61s');
        $this->runDueJobs($notifier, 'notify');

        $this->assertQueueEmpty('notify');
        $this->assertSame('2', $this->receiver->request()['headers']['delayqueue-attempt']);
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testAClientThatConnectsElsewhereIsNotBelieved(HttpClientInterface $client): void
    {
        $headstrong = new class ($client) implements HttpClientInterface {
            use DecoratorTrait {
                request as decorated;
            }

            public function request(string $method, string $url, array $options = []): ResponseInterface
            {
                return $this->decorated($method, $url, ['resolve' => []] + $options);
            }
        };
        $this->push("http://localhost:{$this->receiver->port}/");

        $this->runDueJobs($this->notifier($headstrong, static fn (): array => ['127.0.0.2']), 'notify');

        $error = (string) $this->queue->peek('a')?->lastError;
        $this->assertStringContainsString('the HTTP client connected to 127.0.0.1 instead of 127.0.0.2', $error);
    }

    public function testANameWithoutAnAddressIsTriedAgain(): void
    {
        $this->push("http://nowhere.invalid:{$this->receiver->port}/");

        $this->runDueJobs($this->notifier(new CurlHttpClient(), null), 'notify');

        $this->assertDelayed('a', 'notify');
        $this->assertStringContainsString('its host has no address', (string) $this->queue->peek('a')?->lastError);
    }

    /** @dataProvider transports */
    #[\PHPUnit\Framework\Attributes\DataProvider('transports')]
    public function testHttpsIsVerifiedByTheNameNotByTheAddress(HttpClientInterface $client): void
    {
        $certificate = Certificate::make('receiver.test');
        $receiver = new Receiver($certificate);
        $resolver = static fn (): array => ['127.0.0.1'];
        $notifier = new Notifier(
            ["receiver.test:$receiver->port", "other.test:$receiver->port"],
            privateNetworks: ['127.0.0.1'],
            client: $client->withOptions(['cafile' => $certificate]),
            resolver: $resolver,
        );
        try {
            $this->push("https://receiver.test:$receiver->port/");
            $this->runDueJobs($notifier, 'notify');
            $this->assertQueueEmpty('notify');
            $this->assertSame("receiver.test:$receiver->port", $receiver->request()['headers']['host']);

            $this->push("https://other.test:$receiver->port/");
            $this->runDueJobs($notifier, 'notify');
            $this->assertDelayed('a', 'notify');
        } finally {
            unlink($certificate);
        }
    }

    private function push(string $url): void
    {
        $this->queue->push(['url' => $url, 'body' => 1], id: 'a');
    }

    private function notifier(HttpClientInterface $client, ?callable $resolver): Notifier
    {
        return new Notifier(
            ["*:{$this->receiver->port}"],
            allowHttp: true,
            privateNetworks: ['127.0.0.0/8', '::1'],
            client: $client,
            resolver: $resolver,
        );
    }
}
