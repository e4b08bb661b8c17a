<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DateTimeImmutable;
use DelayQueue\State;
use DelayQueue\Symfony\Canceller;
use DelayQueue\Symfony\DependencyInjection\DelayQueueExtension;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Tests\Symfony\App\Work;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;

/** The bundle in an application. */
final class BundleTest extends MessengerTestCase
{
    public function testAMessageIsDispatchedCancelledRescheduledAndFoundByItsId(): void
    {
        $bus = $this->service('test.bus');
        $canceller = $this->service('test.canceller');
        $this->assertInstanceOf(Canceller::class, $canceller);
        $sent = $bus->dispatch(new Work('a'), [new DelayStamp(900_000), new DelayQueueStamp('order-1')]);

        $this->assertSame('order-1', $sent->last(TransportMessageIdStamp::class)->getId());
        $this->assertSame(State::Delayed, $canceller->find('order-1')->state);
        $this->assertTrue($canceller->reschedule('order-1', new DateTimeImmutable('+2 hours')));
        $this->assertEqualsWithDelta(7200.0, $canceller->find('order-1', 'orders')->dueAt - microtime(true), 5.0);
        $this->assertTrue($canceller->cancel('order-1'));
        $this->assertFalse($canceller->cancel('order-1'));
        $this->assertFalse($canceller->reschedule('order-1', '1h'));
        $this->assertNull($canceller->find('order-1', 'mails'));
    }

    public function testTheCancellerSaysWhichTransportItDoesNotKnow(): void
    {
        foreach (['nowhere' => 'no transport "nowhere"', 'memory' => 'not a delayqueue'] as $name => $expected) {
            try {
                $this->service('test.canceller')->cancel('x', $name);
                $this->fail('nothing was thrown');
            } catch (InvalidArgumentException $error) {
                $this->assertStringContainsString($expected, $error->getMessage());
            }
        }
    }

    public function testTheBundleUsesTheLocksOfMessengersMiddleware(): void
    {
        $container = new ContainerBuilder();
        (new DelayQueueExtension())->load([], $container);
        $locks = new Reference('lock.factory', ContainerBuilder::NULL_ON_INVALID_REFERENCE);
        $this->assertEquals($locks, $container->getDefinition(TransportFactory::class)->getArgument('$locks'));
    }

    public function testCommandsOfTheFrameworkKnowTheTransport(): void
    {
        $this->service('test.bus')->dispatch(new Work('a'));
        $this->assertStringContainsString('orders', $this->command('messenger:setup-transports', 'orders'));
        if (class_exists(\Symfony\Component\Messenger\Command\StatsCommand::class)) {
            $this->assertMatchesRegularExpression('/orders\s+1/', $this->command('messenger:stats', 'orders'));
        }
        $this->assertStringContainsString('default_transport', $this->command('config:dump-reference', 'delay_queue'));
    }
}
