<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use Closure;
use DelayQueue;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\State;
use DelayQueue\Symfony\Canceller;
use DelayQueue\Symfony\Dashboard\DashboardController;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Symfony\Stamp\HeldStamp;
use DelayQueue\Symfony\Transport\Transport;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\DependencyInjection\ServiceLocator;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\InMemoryStore;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\DeduplicateMiddleware;
use Symfony\Component\Messenger\Middleware\SendMessageMiddleware;
use Symfony\Component\Messenger\Stamp\DeduplicateStamp;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Transport\Sender\SendersLocatorInterface;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;
use Symfony\Component\Security\Core\Authorization\AuthorizationCheckerInterface;

require_once __DIR__ . '/support/deduplication.php';

/** The lock of a DeduplicateStamp is released, however its message ends. */
final class DeduplicationTest extends MessengerTestCase
{
    private LockFactory $locks;

    private TransportFactory $factory;

    private Transport $orders;

    private Canceller $canceller;

    protected function setUp(): void
    {
        parent::setUp();
        $this->locks = new LockFactory(new InMemoryStore());
        $this->factory = new TransportFactory(locks: $this->locks);
        $make = fn (string $name): Transport => $this->factory->createTransport(
            $this->dsn('max_payload=5000&heartbeat=0'),
            ['transport_name' => $name],
            new PhpSerializer(),
        );
        $this->orders = $make('orders');
        $transports = new ServiceLocator([
            'orders' => fn (): Transport => $this->orders,
            'mails' => fn (): Transport => $make('mails'),
        ]);
        $this->canceller = new Canceller($transports, $this->factory, 'orders');
    }

    /** @return iterable<string, array{bool}> */
    public static function modes(): iterable
    {
        yield 'until it is handled' => [false];
        yield 'only in the queue' => [true];
    }

    /** @dataProvider modes */
    #[\PHPUnit\Framework\Attributes\DataProvider('modes')]
    public function testACancelledMessageReleasesIt(bool $onlyInQueue): void
    {
        $this->dispatch('a', $onlyInQueue);
        $this->assertTrue($this->isLocked('a'));
        $this->assertTrue($this->canceller->cancel('a'));
        $this->assertFalse($this->isLocked('a'));
        $this->dispatch('a', $onlyInQueue);
        $this->assertSame(1, $this->jobs('orders')->count(), 'the next one of its key is sent');
    }

    public function testAMessageThatAWorkerHasKeepsItUntilItIsHandled(): void
    {
        $this->dispatch('a', delay: 0);
        [$envelope] = $this->received($this->orders->get());
        $this->assertTrue($this->canceller->cancel('a'));
        $this->assertTrue($this->isLocked('a'), 'its handler runs');

        $this->orders->send($envelope->with(new DelayStamp(1000), new RedeliveryStamp(1)));
        $this->assertFalse($this->isLocked('a'), 'it has failed, and there is nothing that could be retried');
        $this->assertSame(0, $this->jobs('orders')->count());
    }

    public function testAMessageThatWasCancelledBeforeItsWorkerGaveItBackReleasesIt(): void
    {
        $this->dispatch('a', delay: 0);
        $this->dispatch('b', delay: 0);
        foreach ($this->orders->get(2) as $envelope) {
            $this->canceller->cancel('b');
            $this->assertTrue($this->isLocked('b'), 'its worker may begin it');
            break;
        }
        unset($envelope);
        gc_collect_cycles();
        $this->assertSame([true, false], [$this->isLocked('a'), $this->isLocked('b')]);
    }

    public function testARejectedMessageReleasesItAndOneThatIsRetriedDoesNot(): void
    {
        $this->dispatch('a', delay: 0);
        [$envelope] = $this->received($this->orders->get());
        $this->orders->send($envelope->with(new DelayStamp(0), new RedeliveryStamp(1)));
        $this->orders->reject($envelope);
        $this->assertTrue($this->isLocked('a'));

        [$envelope] = $this->received($this->orders->get());
        $this->orders->reject($envelope);
        $this->assertFalse($this->isLocked('a'));

        $this->dispatch('b');
        $this->orders->reject($this->orders->find('b')); // as messenger:failed:remove does
        $this->assertSame([false, 0], [$this->isLocked('b'), $this->jobs('orders')->count()]);
    }

    public function testAMessageThatIsKeptOutOrRefusedReleasesItAndTheOtherOneKeepsItsOwn(): void
    {
        $this->dispatch('one', id: 'a');
        $this->dispatch('two', id: 'a', onDuplicate: OnDuplicate::Keep);
        $this->assertSame([true, false], [$this->isLocked('one'), $this->isLocked('two')]);
        foreach (['three' => 'x', 'four' => str_repeat('x', 9000)] as $key => $text) {
            try {
                $this->dispatch($key, id: $key === 'three' ? 'a' : 'b', message: new Work($text));
                $this->fail('it is refused');
            } catch (TransportException) {
                $this->assertFalse($this->isLocked($key), $key);
            }
        }
        $this->assertTrue($this->isLocked('one'));
    }

    public function testAMessageThatIsReplacedReleasesIt(): void
    {
        $this->dispatch('one', id: 'a');
        $this->dispatch('two', id: 'a', onDuplicate: OnDuplicate::Replace);
        $this->assertSame([false, true], [$this->isLocked('one'), $this->isLocked('two')]);
    }

    /** @return iterable<string, array{OnExpiry}> */
    public static function expiries(): iterable
    {
        yield 'buried' => [OnExpiry::Bury];
        yield 'dropped' => [OnExpiry::Drop];
    }

    /** @dataProvider expiries */
    #[\PHPUnit\Framework\Attributes\DataProvider('expiries')]
    public function testAMessageThatExpiresReleasesItAndOneThatWasReceivedInTimeDoesNot(OnExpiry $onExpiry): void
    {
        foreach (['1h', new \DateTimeImmutable('+1 hour')] as $n => $expires) {
            foreach (['late', 'retried', 'died'] as $name) {
                $ttr = $name === 'died' ? '1h' : null;
                $this->dispatch("$name$n", delay: 0, expires: $expires, onExpiry: $onExpiry, ttr: $ttr);
            }
            $this->dispatch("next$n", delay: 7_200_000);
            [$late, $retried, $died] = $this->received($this->orders->get(3));
            $late->last(HeldStamp::class)->job->release(countAttempt: false);
            $this->orders->send($retried->with(new DelayStamp(0), new RedeliveryStamp(1)));
            $this->travel('2h');
            $names = [];
            while (($envelopes = $this->received($this->orders->get(4))) !== []) {
                $got = [...$got ?? [], ...$envelopes];
                foreach ($envelopes as $envelope) {
                    $names[] = $envelope->getMessage()->name;
                }
            }
            sort($names);
            $this->assertSame(["died$n", "next$n", "retried$n"], $names);
            $this->assertSame([false, true, true], array_map($this->isLocked(...), ["late$n", "retried$n", "died$n"]));
            $state = $this->jobs('orders')->peek("late$n")?->state;
            $this->assertSame($onExpiry === OnExpiry::Drop ? null : State::Buried, $state);
            array_map($this->orders->reject(...), $got);
            $got = [];
            DelayQueue\Testing::travelBack();
        }
    }

    public function testAMessageThatNobodyCanDecodeCanBeCancelled(): void
    {
        $this->jobs('orders')->push('{"body":"O:8:\"Nowhere\":0:{}","headers":[]}', id: 'bad');
        $this->assertTrue($this->canceller->cancel('bad'));
        $this->assertFalse($this->canceller->cancel('bad'));
    }

    public function testAMessageThatIsCancelledInTheDashboardReleasesItAndItsCopyDoesNot(): void
    {
        $this->dispatch('a');
        $this->dispatch('b', to: $this->canceller->transport('mails'));
        $this->dashboard('/job/copy', ['queue' => 'orders', 'id' => 'a']);
        [$copy] = $this->jobs('orders')->list(State::Ready);
        $this->dashboard('/job/cancel', ['queue' => 'orders', 'id' => $copy->id]);
        $this->assertSame([true, 1], [$this->isLocked('a'), $this->jobs('orders')->count()]);

        $this->dashboard('/found/cancel', ['queue' => 'orders', 'state' => 'delayed']);
        $this->dashboard('/job/cancel', ['queue' => 'mails', 'id' => 'b']);
        $this->assertSame([false, false], [$this->isLocked('a'), $this->isLocked('b')]);
        $this->assertSame(0, $this->jobs('orders')->count() + $this->jobs('mails')->count());
    }

    private function dispatch(
        string $key,
        bool $onlyInQueue = false,
        int $delay = 60_000,
        ?string $id = null,
        OnDuplicate $onDuplicate = OnDuplicate::Fail,
        ?object $message = null,
        ?Transport $to = null,
        string|\DateTimeInterface|null $expires = null,
        OnExpiry $onExpiry = OnExpiry::Bury,
        ?string $ttr = null,
    ): void {
        $senders = new class ($to ?? $this->orders) implements SendersLocatorInterface {
            public function __construct(private readonly Transport $to)
            {
            }

            public function getSenders(Envelope $envelope): iterable
            {
                return ['orders' => $this->to];
            }
        };
        $bus = new MessageBus([new DeduplicateMiddleware($this->locks), new SendMessageMiddleware($senders)]);
        $bus->dispatch($message ?? new Work($key), [
            new DeduplicateStamp($key, 300.0, $onlyInQueue),
            new DelayStamp($delay),
            new DelayQueueStamp($id ?? $key, ttr: $ttr, onDuplicate: $onDuplicate, expires: $expires, onExpiry: $onExpiry),
        ]);
    }

    private function isLocked(string $key): bool
    {
        $lock = $this->locks->createLockFromKey(new Key($key));
        $isLocked = !$lock->acquire();
        $isLocked ?: $lock->release();

        return $isLocked;
    }

    /** @param array<string, string> $fields */
    private function dashboard(string $path, array $fields): void
    {
        $checker = $this->createStub(AuthorizationCheckerInterface::class);
        $checker->method('isGranted')->willReturn(true);
        $controller = new DashboardController($this->canceller, 'orders', 'ROLE', 'ROLE', $checker, null, null, null);
        $server = ['HTTP_ORIGIN' => 'https://shop.test', 'HTTP_SEC_FETCH_SITE' => 'same-origin'];
        $request = Request::create("https://shop.test/_delayqueue$path", 'POST', $fields, server: $server);
        $this->assertSame(303, $controller($request, ltrim($path, '/'))->getStatusCode());
    }
}
