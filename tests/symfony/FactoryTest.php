<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue;
use DelayQueue\Symfony\Transport\Dsn;
use DelayQueue\Symfony\Transport\Options;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\Messenger\EventListener\StopWorkerOnMessageLimitListener;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;
use Symfony\Component\Messenger\Worker;

final class FactoryTest extends MessengerTestCase
{
    public function testEachFormOfADsnIsTheExtensionsWithoutTheTransportsOptions(): void
    {
        $forms = [
            'delayqueue://h:1/2?queue=q' => 'redis://h:1/2',
            'delayqueues://u:p%40@h:1/2?ca=/c%20a.pem&queue=q' => 'rediss://u:p%40@h:1/2?ca=%2Fc%20a.pem',
            'delayqueue+unix:///run/r.sock?db=3&queue=q' => 'redis+unix:///run/r.sock?db=3',
            'delayqueue+sentinel://u:p@s1:26379,s2:26379/service/0?queue=q&sentinel_user=x' => 'redis+sentinel://u:p@s1:26379,s2:26379/service/0?sentinel_user=x',
            'delayqueues+sentinel://s1:26379/service/0?queue=q' => 'rediss+sentinel://s1:26379/service/0',
            'delayqueue+cluster://n1:6379,n2:6379?queue=q&partitions=4' => 'redis+cluster://n1:6379,n2:6379',
            'delayqueues+cluster://n1:6379?queue=q' => 'rediss+cluster://n1:6379',
            'delayqueue+memory://?queue=q' => 'memory://',
            'delayqueue+memory://shop?maxmemory=1mb&queue=q' => 'memory://shop?maxmemory=1mb',
            'delayqueue:?queue=q' => null,
            'delayqueue://?queue=q' => null,
        ];
        foreach ($forms as $dsn => $expected) {
            $this->assertTrue((new TransportFactory())->supports($dsn, []), $dsn);
            [$theirs, $ours] = Dsn::read($dsn, ['queue', 'partitions']);
            $this->assertSame([$expected, 'q'], [$theirs, $ours['queue']], $dsn);
        }
        $this->assertFalse((new TransportFactory())->supports('redis://h', []));
        $this->assertFalse((new TransportFactory())->supports('delayqueued://h', []));
    }

    /** @return array<string, array{string, string}> what the transport and the extension are configured with */
    public static function dsnsOfTests(): array
    {
        return ['by the variable of the extension' => ['delayqueue:', 'memory://'], 'of its own' => ['delayqueue+memory://shop', 'redis://127.0.0.1:1']];
    }

    #[\PHPUnit\Framework\Attributes\DataProvider('dsnsOfTests')]
    /** @dataProvider dsnsOfTests */
    public function testTheTestsOfAnApplicationNeedNoRedis(string $transport, string $dsn): void
    {
        ini_set('delayqueue.dsn', '');
        $this->setEnvironment(['DELAYQUEUE_DSN' => $dsn, 'MESSENGER_DSN' => $transport]);
        $orders = $this->appTransport('orders');
        $this->service('test.bus')->dispatch(new Work('later'), [new DelayStamp(900_000)]);
        $this->assertSame([], self::received($orders->get()));
        $this->travel('15m');
        $events = new EventDispatcher();
        $events->addSubscriber(new StopWorkerOnMessageLimitListener(1));
        (new Worker(['orders' => $orders], $this->service('test.bus'), $events))->run();

        $this->assertSame([['later' => 1], 0], [$this->ended(), $orders->queue()->count()]);
        $this->assertSame([], (new DelayQueue('default', RedisServer::shared()->dsn()))->queues(), 'on the Redis of other tests');
    }

    public function testOptionsComeFromTheQueryTheTransportAndTheDefaultsInThisOrder(): void
    {
        $settings = Options::read(
            $this->dsn('ttr=30&heartbeat=false'),
            ['transport_name' => 'orders', 'ttr' => 40, 'max_attempts' => 3, 'prefetch' => 5],
            ['max_attempts' => 9, 'bury_on_reject' => true, 'prefix' => 'shop'],
        );
        $this->assertSame('orders', $settings->queue);
        $this->assertSame(['30', 3, 'shop'], [$settings->queueOptions['ttr'], $settings->queueOptions['maxAttempts'], $settings->queueOptions['prefix']]);
        $this->assertSame([false, true, 5], [$settings->heartbeat, $settings->buryOnReject, $settings->prefetch]);
        $this->assertSame(600.0, Options::read($this->dsn(), ['heartbeat' => 600])->heartbeat);
        $this->assertTrue(Options::read($this->dsn('heartbeat=1'), [])->heartbeat);
    }

    /** @return iterable<string, array{string, array<string, mixed>, string}> */
    public static function mistakes(): iterable
    {
        yield 'an unknown option' => ['delayqueue://h', ['consumer' => 'c1'], 'There is no option "consumer"'];
        yield 'an unknown part of the query' => ['delayqueue://h?stream=s', [], 'stream'];
        $unknown = "'prefx' is unknown; did you mean prefix?";
        yield 'a mistyped part of the query' => ['delayqueue://h?prefx=s', [], $unknown];
        $known = "'sentinel_password', and of the transport prefix, ttr,";
        yield 'a part of the query that is like none' => ['delayqueue://h?stream=s', [], $known];
        yield 'a wrong value' => ['delayqueue://h', ['ttr' => -1], 'ttr'];
        yield 'a wrong number' => ['delayqueue://h?prefetch=many', [], 'prefetch'];
        yield 'a wrong name of a queue' => ['delayqueue://h?queue=no%20spaces', [], 'queue'];
        yield 'a DSN without sense' => ['delayqueue://h:port/0', [], 'DSN'];
    }

    /** @param array<string, mixed> $options */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    /** @dataProvider mistakes */
    public function testAMistakeIsToldWithTheTransportsNameAndWithoutItsPassword(string $dsn, array $options, string $expected): void
    {
        try {
            (new TransportFactory())->createTransport(strtr($dsn, ['//h' => '//user:secret@h']), $options + ['transport_name' => 'orders'], new PhpSerializer());
            $this->fail('nothing was thrown');
        } catch (InvalidArgumentException $error) {
            $this->assertStringContainsString('"orders"', $error->getMessage());
            $this->assertStringContainsStringIgnoringCase($expected, $error->getMessage());
            $this->assertStringNotContainsString('secret', $error->getMessage());
        }
    }
}
