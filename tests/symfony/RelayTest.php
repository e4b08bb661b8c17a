<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Symfony\Command\RelayCommand;
use DelayQueue\Symfony\Transport\TransportFactory;
use Symfony\Component\Console\Exception\InvalidArgumentException;
use Symfony\Component\Console\Tester\CommandTester;
use Symfony\Component\DependencyInjection\ServiceLocator;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

/** The command delayqueue:relay. */
final class RelayTest extends DatabaseMessengerTestCase
{
    public function testTheRelayBringsRowsOfAQueueThatNoTransportHasAnyMore(): void
    {
        $this->useDatabase('sqlite');
        $this->dieAtCommit('a');
        $this->other()->executeStatement("update delayqueue_outbox set queue = 'old'");
        $this->relay();
        $this->assertSame([1, 0], [$this->jobs('old')->count(), $this->rows()]);
    }

    public function testAPassGoesOnBehindARowThatFails(): void
    {
        $this->useDatabase('sqlite');
        $this->dieAtCommit('a');
        $this->other()->executeStatement("update delayqueue_outbox set queue = 'no {such} name'");
        $this->dieAtCommit('b');
        $relay = $this->start('delayqueue:relay', '--once', '--after=0', '--batch=1');
        $this->assertSame(1, $relay->exitCode(60), $relay->errors());
        $this->assertSame([1, 1], [$this->jobs('shop')->count(), $this->rows()]);
    }

    public function testAWrongDurationOrNumberIsRefused(): void
    {
        foreach (['--after' => ['x', '1 fortnight', ''], '--batch' => ['abc', '0', '1001']] as $option => $values) {
            foreach ($values as $value) {
                try {
                    $this->tester(['a' => ['outbox' => 'one']])->execute([$option => $value, '--once' => true]);
                    $this->fail("$option=$value was taken");
                } catch (InvalidArgumentException $error) {
                    $this->assertStringContainsString("$option must be a", $error->getMessage());
                }
            }
        }
    }

    public function testTheRelayTakesDurationsAsTheCommandLineDoes(): void
    {
        $this->useDatabase('sqlite');
        $this->dieAtCommit('a');
        // A minute, not one second.
        $this->other()->executeStatement('update delayqueue_outbox set placed = placed - 20000000');
        $this->command('delayqueue:relay', '--once', '--after=1m');
        $this->assertSame([0, 1], [$this->jobs('shop')->count(), $this->rows()]);
    }

    public function testTheRelayRunsUntilASignalOrStopWorkers(): void
    {
        $this->useDatabase('sqlite');
        foreach ([fn ($relay) => $relay->signal(SIGTERM), fn () => $this->command('messenger:stop-workers')] as $end) {
            $relay = $this->start('delayqueue:relay', '--after=0');
            $this->dieAtCommit('a');
            $this->until(fn (): bool => $this->rows() === 0, 'the relay brings it');
            $end($relay);
            $this->assertSame(0, $relay->exitCode(60), $relay->errors());
        }
        $this->assertSame(2, $this->jobs('shop')->count());
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testTheRelayOutlivesALostConnection(string $database): void
    {
        $this->useDatabase($database);
        $relay = $this->start('delayqueue:relay', '--after=0');
        foreach (['a', 'b'] as $name) {
            $this->dieAtCommit($name);
            $this->until(fn (): bool => $this->rows() === 0, 'the relay brings it');
            $this->disconnectOthers($database);
        }
        $relay->signal(SIGTERM);
        $this->assertSame(0, $relay->exitCode(60), $relay->errors());
        $this->assertSame(2, $this->jobs('shop')->count());
    }

    public function testItNamesTheOutboxesThatItMayMean(): void
    {
        $mistakes = [
            'No delayqueue transport has an outbox' => [[], []],
            'Name one of the outboxes with --outbox: one, two' => [['a' => ['outbox' => 'one'], 'b' => ['outbox' => 'two']], []],
            'has the outbox "three"; there are: one' => [['a' => ['outbox' => 'one']], ['--outbox' => 'three']],
            'have the queue "orders" in two places' => [['a' => ['outbox' => 'one', 'queue' => 'orders'], 'b' => ['outbox' => 'one', 'queue' => 'orders', 'prefix' => 'p']], []],
        ];
        foreach ($mistakes as $expected => [$transports, $input]) {
            try {
                $this->tester($transports)->execute($input);
                $this->fail("nothing was thrown for $expected");
            } catch (InvalidArgumentException $error) {
                $this->assertStringContainsString($expected, $error->getMessage());
            }
        }
    }

    /** @param array<string, array<string, mixed>> $transports options by name */
    private function tester(array $transports): CommandTester
    {
        $connections = new ServiceLocator(array_fill_keys(['one', 'two'], static fn () => self::fail('the database is needed')));
        $factory = new TransportFactory([], null, $connections);
        $make = fn (array $options, string $name): \Closure => fn () => $factory->createTransport($this->dsn(), $options + ['transport_name' => $name], new PhpSerializer());
        $receivers = new ServiceLocator(array_combine(array_keys($transports), array_map($make, $transports, array_keys($transports))));

        return new CommandTester(new RelayCommand($receivers, $factory, array_keys($transports)));
    }

    private function disconnectOthers(string $database): void
    {
        $here = $this->other();
        [$list, $kill] = match ($database) {
            'postgresql' => ['select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()', 'select pg_terminate_backend(%d)'],
            'sqlite' => ["select 1 where 1 = 0", ''],
            default => ['select id from information_schema.processlist where db = database() and id <> connection_id()', 'kill %d'],
        };
        foreach ($here->fetchFirstColumn($list) as $session) {
            $here->executeStatement(sprintf($kill, $session));
        }
    }
}
