<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use Closure;
use DelayQueue\OnDuplicate;
use DelayQueue\Symfony\Canceller;
use DelayQueue\Symfony\Command\RelayCommand;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Symfony\Transport\Transport;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Tests\Symfony\App\ShopWork;
use RuntimeException;
use Symfony\Component\Console\Tester\CommandTester;
use Symfony\Component\DependencyInjection\ServiceLocator;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\InMemoryStore;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DeduplicateStamp;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

require_once __DIR__ . '/support/deduplication.php';

/** Locks of DeduplicateStamps, and messages that are rows of an outbox. */
final class OutboxDeduplicationTest extends DatabaseMessengerTestCase
{
    private LockFactory $locks;

    private TransportFactory $factory;

    private Transport $shop;

    protected function setUp(): void
    {
        parent::setUp();
        $this->useDatabase('sqlite');
        $this->locks = new LockFactory(new InMemoryStore());
        $connections = new ServiceLocator(['default' => fn () => $this->database()]);
        $this->factory = new TransportFactory([], null, $connections, $this->locks);
        $this->shop = $this->make($this->dsn());
    }

    public function testAMessageOfATransactionThatIsRolledBackReleasesIt(): void
    {
        $this->transaction(fn () => $this->send('a'), isRolledBack: true);
        $this->transaction(fn () => $this->send('b'));
        $this->transaction(fn () => null, isRolledBack: true);
        $this->assertSame([false, true], $this->areLocked('a', 'b'));
    }

    public function testAMessageThatIsCancelledReleasesItWithTheCommit(): void
    {
        $away = $this->make('delayqueue+unix:///nonexistent/redis.sock?db=0');
        foreach ([[$this->shop, 'in Redis'], [$away, 'a row alone']] as [$transport, $key]) {
            $this->transaction(fn () => $this->send($key, $transport));
            $cancel = fn () => $this->assertTrue($this->canceller($transport)->cancel($key, 'shop'));
            $this->transaction($cancel, isRolledBack: true);
            $this->assertTrue($this->isLocked($key), $key);
            $this->transaction(function () use ($cancel, $key): void {
                $cancel();
                $this->assertTrue($this->isLocked($key), "$key, before the commit");
            });
            $this->assertFalse($this->isLocked($key), $key);

            $this->transaction(fn () => $this->send($key, $transport));
            $cancel();
            $this->assertFalse($this->isLocked($key), "$key, without a transaction");
        }
    }

    public function testAMessageThatIsKeptOutReleasesItWhereverThatIsSeen(): void
    {
        $this->send('first', id: 'order-1');
        $this->send('now', id: 'order-1', onDuplicate: OnDuplicate::Keep);
        $this->transaction(fn () => $this->send('flushed', id: 'order-1'));
        $away = $this->make('delayqueue+unix:///nonexistent/redis.sock?db=0');
        $this->transaction(fn () => $this->send('relayed', $away, 'order-1'));
        $this->assertSame([true, false, false, true], $this->areLocked('first', 'now', 'flushed', 'relayed'));
        $this->relayHere();
        $this->assertSame([true, false, 1], [...$this->areLocked('first', 'relayed'), $this->jobs('shop')->count()]);
    }

    public function testAMessageThatIsReplacedByARowReleasesIt(): void
    {
        $this->send('first', id: 'order-1');
        $this->transaction(fn () => $this->send('second', id: 'order-1', onDuplicate: OnDuplicate::Replace));
        $this->assertSame([false, true], $this->areLocked('first', 'second'));
        $away = $this->make('delayqueue+unix:///nonexistent/redis.sock?db=0');
        $this->transaction(fn () => $this->send('third', $away, 'order-1', OnDuplicate::Replace));
        $this->relayHere();
        $this->assertSame([false, true], $this->areLocked('second', 'third'));
    }

    private function make(string $dsn): Transport
    {
        $options = ['transport_name' => 'shop', 'outbox' => 'default', 'connect_timeout' => 0.1];

        return $this->factory->createTransport($dsn, $options, new PhpSerializer());
    }

    private function canceller(Transport $transport): Canceller
    {
        return new Canceller(new ServiceLocator(['shop' => static fn (): Transport => $transport]), $this->factory);
    }

    /** As a bus with Messenger's DeduplicateMiddleware does. */
    private function send(
        string $key,
        ?Transport $to = null,
        ?string $id = null,
        OnDuplicate $onDuplicate = OnDuplicate::Fail,
    ): void {
        $stamp = new DeduplicateStamp($key);
        $this->assertTrue($this->locks->createLockFromKey($stamp->getKey(), autoRelease: false)->acquire());
        $wish = new DelayQueueStamp($id ?? $key, onDuplicate: $onDuplicate);
        ($to ?? $this->shop)->send(new Envelope(new ShopWork($key), [$stamp, new DelayStamp(60_000), $wish]));
    }

    /** @param Closure(): mixed $work */
    private function transaction(Closure $work, bool $isRolledBack = false): void
    {
        try {
            $this->database()->transactional(static function () use ($work, $isRolledBack): void {
                $work();
                !$isRolledBack ?: throw new RuntimeException('no');
            });
        } catch (RuntimeException $error) {
            $isRolledBack ?: throw $error;
        }
    }

    private function relayHere(): void
    {
        $this->make($this->dsn());
        $receivers = new ServiceLocator(['shop' => fn (): Transport => $this->factory->made('shop')]);
        $command = new CommandTester(new RelayCommand($receivers, $this->factory, ['shop']));
        $this->assertSame(0, $command->execute(['--once' => true, '--after' => '0']), $command->getDisplay());
        $this->assertSame(0, $this->rows());
    }

    private function isLocked(string $key): bool
    {
        $lock = $this->locks->createLockFromKey(new Key($key));
        $isLocked = !$lock->acquire();
        $isLocked ?: $lock->release();

        return $isLocked;
    }

    /** @return list<bool> */
    private function areLocked(string ...$keys): array
    {
        return array_map($this->isLocked(...), array_values($keys));
    }
}
