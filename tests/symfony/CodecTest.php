<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Symfony\Stamp\HeldStamp;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\ErrorDetailsStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

/** What a message is stored as: any bytes and headers, and an exception that says why where that cannot be. */
final class CodecTest extends MessengerTestCase
{
    public function testAMessageThatCannotBeDecodedIsNotLost(): void
    {
        $this->jobs('orders')->push('{"body":"O:8:\"Nowhere\":0:{}","headers":[]}', id: 'bad');
        $transport = $this->transport();
        if (method_exists(MessageDecodingFailedException::class, 'wrap')) {
            $this->assertInstanceOf(MessageDecodingFailedException::class, $transport->get()[0]->getMessage());

            return;
        }
        try {
            $transport->get();
            $this->fail('nothing was thrown');
        } catch (MessageDecodingFailedException) {
            $this->assertBuried('bad', 'orders');
            $this->assertSame([], self::received($transport->all()));
        }
    }

    public function testItReadsWhatTheRedisTransportWrites(): void
    {
        $encoded = (new PhpSerializer())->encode(new Envelope(new Work('a')));
        $this->jobs('orders')->push(json_encode(['body' => $encoded['body'], 'headers' => [], 'uniqid' => 'x']));
        $this->assertEquals(new Work('a'), $this->transport()->get()[0]->getMessage());
    }

    public function testABodyMayBeAnyBytes(): void
    {
        $transport = $this->transport(serializer: new BytesSerializer());
        $transport->send(new Envelope(new Work("\xff\x00")));
        $this->assertSame("\xff\x00", $transport->get()[0]->getMessage()->name);
    }

    /** @return iterable<string, array{array<string, mixed>}> */
    public static function headers(): iterable
    {
        yield 'bytes' => [['trace' => "\xff\xfe", "\xff" => 'x', 'text' => 'é']];
        yield 'bytes beside others' => [['trace' => "\xff", 'number' => 7, 'none' => null, 'many' => ['a', 'b']]];
        yield 'others' => [['number' => 7, 'half' => 1.5, 'one' => 1.0, 'yes' => true, 'many' => ['a' => ['b']]]];
        yield 'long' => [['long' => str_repeat('x', 1_000_000)]];
    }

    /**
     * @dataProvider headers
     *
     * @param array<string, mixed> $headers
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('headers')]
    public function testHeadersMayBeAnything(array $headers): void
    {
        foreach (['text', "\xff\x00"] as $body) {
            $transport = $this->transport(serializer: $serializer = new BytesSerializer(['headers' => $headers]));
            $transport->send(new Envelope(new Work($body)));
            [$envelope] = $transport->get();
            $transport->ack($envelope);
            $this->assertSame(['body' => $body, 'headers' => $headers], $serializer->decoded);
        }
    }

    public function testWhatCannotBeStoredIsATransportExceptionThatSaysSo(): void
    {
        $refused = [
            'the headers of its serializer cannot be stored: Inf and NaN' => ['headers' => ['a' => NAN]],
            'the headers of its serializer cannot be stored: Malformed UTF-8' => [
                'headers' => ['a' => ['b' => "\xff"]],
            ],
            'its serializer gave a body of type array, not a string' => ['body' => ['a']],
            'its serializer gave headers of type string, not an array' => ['headers' => 'a: b'],
            'larger than maxPayload' => ['headers' => ['a' => str_repeat('x', 17 << 20)]],
        ];
        foreach ($refused as $why => $encoded) {
            try {
                $this->transport(serializer: new BytesSerializer($encoded))->send(new Envelope(new Work('a')));
                $this->fail($why);
            } catch (TransportException $error) {
                $this->assertStringContainsString($why, $error->getMessage());
            }
        }
    }

    public function testAFailureThatIsNoTextIsKeptThroughRetriesAndInTheFailureTransport(): void
    {
        [$orders, $failed] = [$this->transport('orders'), $this->transport('failed')];
        $orders->send(new Envelope(new Work('a'), [new DelayQueueStamp('a')]));
        $why = new \RuntimeException("cannot read \xff");
        foreach ([$orders, $failed] as $to) {
            [$envelope] = $orders->get();
            $envelope->last(HeldStamp::class)->failed($why);
            $more = $to === $failed ? new SentToFailureTransportStamp('orders') : new RedeliveryStamp(1);
            $to->send($envelope->with(ErrorDetailsStamp::create($why), $more));
            $orders->reject($envelope);
        }
        [$envelope] = $failed->get();
        $this->assertSame("cannot read \xff", $envelope->last(ErrorDetailsStamp::class)->getExceptionMessage());
        $this->assertSame([0, 1], [$this->jobs('orders')->count(), $this->jobs('failed')->count()]);
    }
}
