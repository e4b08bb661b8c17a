<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

use DelayQueue;
use DelayQueue\Http\Message;
use DelayQueue\Http\Notifier;
use DelayQueue\Http\Signature;
use DelayQueue\Http\StandardWebhooks;
use DelayQueue\Job;
use DelayQueue\State;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Worker\TaskRouter;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;

/** Requests of the notifier, and the state of the job after each answer. */
final class NotifierTest extends TestCase
{
    use OnAnyStore;

    private const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

    private Receiver $receiver;

    private DelayQueue $queue;

    protected function setUp(): void
    {
        $this->receiver = new Receiver();
        $this->queue = $this->delayQueue('notify', ['backoff' => DelayQueue\Backoff::fixed('1m')]);
    }

    public function testThePayloadIsPostedAsJsonAndTheJobIsDone(): void
    {
        $body = ['order' => 4711, 'name' => 'Zoë / 1', 'price' => 2.0, 'none' => new \stdClass(), 'list' => []];
        $this->push(['url' => $this->url('/paid?token=s3cret'), 'body' => $body], id: 'order-4711');

        $this->notify();

        $request = $this->receiver->request();
        $this->assertSame(['POST', '/paid?token=s3cret'], [$request['method'], $request['path']]);
        $this->assertSame('{"order":4711,"name":"Zoë / 1","price":2.0,"none":{},"list":[]}', $request['body']);
        $this->assertSame('application/json', $request['headers']['content-type']);
        $this->assertSame('order-4711', $request['headers']['delayqueue-job']);
        $this->assertSame('1', $request['headers']['delayqueue-attempt']);
        $this->assertSame("127.0.0.1:{$this->receiver->port}", $request['headers']['host']);
        $this->assertArrayNotHasKey('delayqueue-signature', $request['headers']);
        $this->assertQueueEmpty('notify');
    }

    public function testNumbersOfABodyStayAsTheyAreStored(): void
    {
        $body = '{"id":12345678901234567890,"price":1.10,"far":1e400,"zero":-0,"none":{},"list":[],'
            . '"text":"1.10 \\" 12345678901234567890"}';
        $payload = '{"url":' . json_encode($this->url()) . ',"body":' . $body . '}';
        $this->queue->sibling('notify', ['format' => 'raw'])->push($payload);

        $this->notify();

        $this->assertSame($body, $this->receiver->request()['body']);
    }

    public function testBytesArePostedAsTheyAre(): void
    {
        $xml = "<paid order='4711'/>\r\n";
        $this->push(['url' => $this->url(), 'raw' => $xml, 'type' => 'application/xml']);
        $this->push(['url' => $this->url(), 'raw' => '']);

        $this->notify();

        $request = $this->receiver->request();
        $this->assertSame([$xml, 'application/xml'], [$request['body'], $request['headers']['content-type']]);
        $request = $this->receiver->request();
        $this->assertSame(['', 'application/octet-stream'], [$request['body'], $request['headers']['content-type']]);
        $this->assertQueueEmpty('notify');
    }

    public function testAQueueOfBytesSaysByAClosureWhereTheyGo(): void
    {
        $raw = $this->delayQueue('notify', ['format' => 'raw']);
        $raw->push("\x00\xff", id: 'bytes');
        $url = $this->url('/raw');

        $this->runDueJobs($this->notifier(message: static fn (Job $job): Message => new Message($url, $job->body)), $raw);

        $this->assertSame('/raw', $this->receiver->request()['path']);
        $this->assertQueueEmpty('notify');
    }

    public function testFurtherHeadersGoAlongAndLeaveTheOwnOnesAlone(): void
    {
        $this->push(['url' => $this->url(), 'body' => 1], id: 'a');
        $this->notify(headers: ['Authorization' => 'Bearer abc', 'user-agent' => 'shop', 'delayqueue-job' => 'forged']);
        $headers = $this->receiver->request()['headers'];
        $this->assertSame(['Bearer abc', 'shop', 'a'], [$headers['authorization'], $headers['user-agent'], $headers['delayqueue-job']]);

        $this->push(['url' => $this->url(), 'body' => 1], id: 'b');
        $this->notify(headers: static fn (Job $job): array => ['X-Order' => $job->id]);
        $this->assertSame('b', $this->receiver->request()['headers']['x-order']);
    }

    /** @dataProvider wrongHeaders */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongHeaders')]
    public function testAHeaderThatCannotBeSentIsRefusedWithoutItsValue(array $headers): void
    {
        try {
            $this->notifier(headers: $headers);
            $this->fail('accepted');
        } catch (InvalidArgumentException $error) {
            $this->assertStringContainsString('is not one that can be sent', $error->getMessage());
            $this->assertStringNotContainsString('s3cret', $error->getMessage());
        }
    }

    /** @return iterable<string, array{array<mixed>}> */
    public static function wrongHeaders(): iterable
    {
        yield 'a list' => [['Authorization: s3cret']];
        yield 'a line end in the value' => [['X' => "s3cret\r\nY: 1"]];
        yield 'a space in the name' => [['X Y' => 's3cret']];
        yield 'a number as the value' => [['X' => 5]];
    }

    public function testAnAnswerWhoseBodyIsNotAcceptedIsAFailedAttempt(): void
    {
        $this->receiver->answer([200, [], 'fail'], [200, [], 'success']);
        $this->push(['url' => $this->url(), 'body' => 1], id: 'a');
        $accepts = static fn (string $body, int $status): bool => $status === 200 && $body === 'success';

        $this->notify(accepts: $accepts);
        $this->assertStringContainsString("answered 200: fail\n", (string) $this->queue->peek('a')?->lastError);

        $this->travel('1m');
        $this->notify(accepts: $accepts);
        $this->assertQueueEmpty('notify');
    }

    public function testStandardWebhooksAreSignedAsTheirLibrariesVerifyThem(): void
    {
        $this->push(['url' => $this->url(), 'body' => ['order' => 1]], id: 'msg-1');
        $this->notify(signer: new StandardWebhooks(self::WEBHOOK_SECRET));
        ['headers' => $headers, 'body' => $body] = $this->receiver->request();
        $key = base64_decode(substr(self::WEBHOOK_SECRET, 6));
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "msg-1.{$headers['webhook-timestamp']}.$body", $key, true));
        $this->assertSame(['msg-1', $expected], [$headers['webhook-id'], $headers['webhook-signature']]);
        $this->assertEqualsWithDelta(time(), (int) $headers['webhook-timestamp'], 60);
    }

    public function testTheStandardWebhooksSignatureIsThatOfTheReferenceLibraries(): void
    {
        $headers = (new StandardWebhooks(self::WEBHOOK_SECRET))->headers('msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}', 1614265330);
        $this->assertSame('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=', $headers['webhook-signature']);
    }

    /** @dataProvider wrongSigners */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongSigners')]
    public function testASecretOfAnotherFormIsRefused(callable $make): void
    {
        $this->expectException(InvalidArgumentException::class);
        $make($this->notifier(...));
    }

    /** @return iterable<string, array{callable}> */
    public static function wrongSigners(): iterable
    {
        yield 'no whsec_' => [static fn () => new StandardWebhooks(base64_encode(str_repeat('k', 32)))];
        yield 'too short' => [static fn () => new StandardWebhooks('whsec_' . base64_encode('short'))];
        yield 'none' => [static fn () => new StandardWebhooks([])];
        yield 'two schemes' => [static fn (callable $notifier) => $notifier(secrets: 'one', signer: new StandardWebhooks(self::WEBHOOK_SECRET))];
    }

    public function testEverySecretSignsIdAndBody(): void
    {
        $this->push(['url' => $this->url(), 'body' => ['order' => 1]], id: 'Zoë 100%');

        $this->notify(secrets: ['new secret', 'old secret']);

        ['headers' => $headers, 'body' => $body] = $this->receiver->request();
        $this->assertSame('Zo%C3%AB%20100%25', $headers['delayqueue-job']);
        foreach (['new secret' => true, 'old secret' => true, 'another' => false] as $secret => $isGenuine) {
            $this->assertSame($isGenuine, Signature::verify($headers['delayqueue-signature'], $headers['delayqueue-job'], $body, $secret));
        }
    }

    public function testAMessageWithoutAJobIsPostedOnce(): void
    {
        $notifier = $this->notifier(secrets: 'secret', headers: ['X-Team' => 'shop']);
        $this->receiver->answer([204], [500, [], 'no'], [503, ['Retry-After' => '5']]);
        $notifier->post(Message::json($this->url('/alert'), ['text' => 'late']), 'alert-1', 3);
        ['path' => $path, 'headers' => $headers, 'body' => $body] = $this->receiver->request();
        $this->assertSame(['/alert', '{"text":"late"}'], [$path, $body]);
        $this->assertSame(['alert-1', '3', 'shop'], [$headers['delayqueue-job'], $headers['delayqueue-attempt'], $headers['x-team']]);
        $this->assertTrue(Signature::verify($headers['delayqueue-signature'], 'alert-1', $body, 'secret'));
        foreach (['answered 500: no', 'answered 503'] as $reason) {
            try {
                $notifier->post(Message::json($this->url(), 1), 'alert-2');
                $this->fail('it was not accepted');
            } catch (DelayQueue\Http\DeliveryFailed $error) {
                $this->assertSame($this->url('') . " $reason", $error->getMessage());
            }
        }
        $this->expectException(InvalidArgumentException::class);
        $this->notifier(headers: static fn (Job $job): array => ['X-Job' => $job->id])->post(Message::json($this->url(), 1), 'alert-3');
    }

    public function testAFailureIsRepeatedUntilTheReceiverRecovers(): void
    {
        $this->receiver->answer([500, [], "out of\n\x1b[31morder"], ['close'], [204]);
        $this->push(['url' => $this->url('/secret/path?token=s3cret'), 'body' => 1], id: 'a');

        $this->notify();
        $this->assertDelayed('a', 'notify');
        $error = 'DelayQueue\Http\DeliveryFailed: ' . $this->url('') . ' answered 500: out of [31morder';
        $this->assertSame($error, strtok((string) $this->queue->peek('a')?->lastError, "\n"));

        $this->travel('61s');
        $this->notify();
        $error = (string) $this->queue->peek('a')?->lastError;
        $this->assertStringStartsWith('DelayQueue\Http\DeliveryFailed: ' . $this->url('') . ': ', $error);
        $this->assertStringNotContainsString('secret', $error);

        $this->travel('61s');
        $this->notify();
        $this->assertQueueEmpty('notify');
        $attempts = [$this->receiver->request(), $this->receiver->request(), $this->receiver->request()];
        $this->assertSame(['1', '2', '3'], array_column(array_column($attempts, 'headers'), 'delayqueue-attempt'));
    }

    public function testAReceiverThatIsGoneIsNotAskedAgain(): void
    {
        $this->receiver->answer([410, [], 'closed for good']);
        $this->push(['url' => $this->url(), 'body' => 1], id: 'a', maxAttempts: 5);

        $this->notify();

        $this->assertBuried('a', 'notify', $this->url('') . ' answered 410: closed for good');
    }

    /** @return array<string, array{int, ?string, ?float}> */
    public static function retryAfters(): array
    {
        return [
            '429, seconds' => [429, '120', 120.0],
            '503, seconds' => [503, '3600', 3600.0],
            '503, a moment' => [503, 'Wed, 21 Oct 2015 07:58:00 GMT', 1800.0],
            'bounded' => [429, '99999999999999999999', 86400.0],
            'none' => [503, null, null],
            'no time' => [429, '0', null],
            'a moment that has passed' => [503, 'Wed, 21 Oct 2015 07:27:59 GMT', null],
            'neither' => [503, 'soon', null],
            'not for this status' => [500, '120', null],
        ];
    }

    /** @dataProvider retryAfters */
    #[\PHPUnit\Framework\Attributes\DataProvider('retryAfters')]
    public function testABusyReceiverSaysWhenToComeBack(int $status, ?string $retryAfter, ?float $seconds): void
    {
        $headers = ['Date' => 'Wed, 21 Oct 2015 07:28:00 GMT'] + ($retryAfter === null ? [] : ['Retry-After' => $retryAfter]);
        $this->receiver->answer([$status, $headers]);
        $this->push(['url' => $this->url(), 'body' => 1], id: 'a', maxAttempts: 2);
        $reserved = 0.0;
        $notifier = $this->notifier();

        $this->runDueJobs(static function (Job $job) use ($notifier, &$reserved): void {
            $reserved = $job->reservedAt;
            $notifier($job);
        }, $this->queue);

        $info = $this->queue->peek('a');
        $this->assertSame([State::Delayed, 1, $seconds === null ? 0 : 1], [$info?->state, $info?->attempts, $info?->releases]);
        $this->assertStringContainsString("answered $status", (string) $info?->lastError);
        // An attempt takes its time, and no more than this.
        $delay = (float) $info?->dueAt - $reserved;
        $this->assertGreaterThanOrEqual($seconds ?? 60.0, $delay);
        $this->assertLessThan(($seconds ?? 60.0) + 15, $delay);
    }

    public function testTheLastAttemptIsBuriedWhateverTheReceiverAsks(): void
    {
        $this->receiver->answer([503, ['Retry-After' => '60'], 'maintenance']);
        $this->push(['url' => $this->url(), 'body' => 1], id: 'a', maxAttempts: 2);

        $this->notify();
        $this->assertDelayed('a', 'notify');
        $this->travel('61s');
        $this->notify();

        $this->assertBuried('a', 'notify', 'answered 503: maintenance');
    }

    public function testWithoutALimitOfAttemptsTheReceiverMayAskForEver(): void
    {
        $this->receiver->answer([503, ['Retry-After' => '60']]);
        $this->push(['url' => $this->url(), 'body' => 1], id: 'a', maxAttempts: 0);
        for ($attempt = 1; $attempt <= 20; $attempt++) {
            $this->assertSame(1, $this->notify());
            $this->travel('61s');
        }

        $this->assertSame([State::Ready, 20], [$this->queue->peek('a')?->state, $this->queue->peek('a')?->releases]);
    }

    /** @return array<string, array{mixed}> */
    public static function wrongPayloads(): array
    {
        return [
            'no URL' => [['body' => 1]],
            'no text as URL' => [['url' => 5, 'body' => 1]],
            'a number as URL that is not written so' => [['url' => 1.5e300, 'body' => 1]],
            'text' => ['https://shop.example/'],
            'bytes that are none' => [['url' => 'https://shop.example/', 'raw' => ['x']]],
            'a type with more headers' => [['url' => 'https://shop.example/', 'raw' => 'x', 'type' => "text/plain\r\nX-Evil: 1"]],
        ];
    }

    /** @dataProvider wrongPayloads */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongPayloads')]
    public function testAPayloadOfAnotherShapeIsBuried(mixed $payload): void
    {
        $this->push($payload, id: 'a');

        $this->notify(hosts: ['shop.example']);

        $this->assertBuried('a', 'notify', 'the payload is neither {url, body} nor {url, raw, type}');
    }

    public function testATaskOfARouterIsPosted(): void
    {
        $notifier = $this->notifier(message: static fn (Job $job): Message => Message::json(...$job->payload['params']));
        $this->push(['task' => 'notify', 'params' => ['url' => $this->url('/task'), 'body' => [1]]]);

        $this->runDueJobs(new TaskRouter(['notify' => static fn (mixed $params, Job $job) => $notifier($job)]), $this->queue);

        ['path' => $path, 'body' => $body] = $this->receiver->request();
        $this->assertSame(['/task', '[1]'], [$path, $body]);
        $this->assertQueueEmpty('notify');
    }

    /** @return array<array{array<string, mixed>}> */
    public static function wrongOptions(): array
    {
        return [[['timeout' => 0.0]], [['maxDuration' => -1.0]], [['secrets' => '']], [['hosts' => []]], [['privateNetworks' => ['lan']]]];
    }

    /**
     * @dataProvider wrongOptions
     *
     * @param array<string, mixed> $options
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('wrongOptions')]
    public function testWhatCannotBeMeantIsRefusedAtOnce(array $options): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->notifier(...$options);
    }

    private function push(mixed $payload, mixed ...$options): void
    {
        $this->queue->push($payload, ...$options);
    }

    private function notify(mixed ...$options): int
    {
        return $this->runDueJobs($this->notifier(...$options), $this->queue);
    }

    private function notifier(mixed ...$options): Notifier
    {
        return new Notifier(...$options + [
            'hosts' => ["127.0.0.1:{$this->receiver->port}"],
            'allowHttp' => true,
            'privateNetworks' => ['127.0.0.1'],
        ]);
    }

    private function url(string $path = '/'): string
    {
        return "http://127.0.0.1:{$this->receiver->port}$path";
    }
}
