<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Symfony\Command\RelayCommand;
use DelayQueue\Symfony\Database\FlushMiddleware;
use DelayQueue\Symfony\Database\SchemaFilter;
use DelayQueue\Symfony\DependencyInjection\DatabasePass;
use DelayQueue\Symfony\DependencyInjection\DelayQueueExtension;
use DelayQueue\Symfony\Transport\TransportFactory;
use PHPUnit\Framework\TestCase;
use Symfony\Component\DependencyInjection\ContainerBuilder;

/** The services of outbox and inbox, as the container has them. */
final class DatabasePassTest extends TestCase
{
    public function testEachOutboxHasItsConnectionAndOnlyThoseConnectionsTellOfCommits(): void
    {
        $container = $this->container(['a' => ['outbox' => 'shop'], 'b' => ['outbox' => 'database_connection'], 'c' => [], 'd' => ['outbox' => 'my.connection'], 'e' => ['outbox' => 'nowhere']]);
        $this->assertSame(['a', 'b', 'd', 'e'], $container->getDefinition(RelayCommand::class)->getArgument(2));
        $this->assertSame([['connection' => 'shop'], ['connection' => 'default']], $container->getDefinition(FlushMiddleware::class)->getTag('doctrine.middleware'));
        $locator = $container->getDefinition((string) $container->getDefinition(TransportFactory::class)->getArgument(2));
        $this->assertSame(['database_connection', 'my.connection', 'shop'], $this->sorted(array_keys($locator->getArgument(0))));
    }

    public function testAnOutboxForAllTransportsMayBeTakenFromOne(): void
    {
        $container = $this->container(['a' => [], 'b' => ['outbox' => null]], ['outbox' => 'default']);
        $this->assertSame(['a'], $container->getDefinition(RelayCommand::class)->getArgument(2));
    }

    public function testWithoutAnOutboxThereIsNoneOfThem(): void
    {
        $container = $this->container(['a' => []]);
        $this->assertFalse($container->has(RelayCommand::class));
        $this->assertFalse($container->has(FlushMiddleware::class));
        $this->assertTrue($container->has('messenger.middleware.delayqueue_inbox'));
        $this->assertSame([['connection' => 'default'], ['connection' => 'shop']], $container->getDefinition(SchemaFilter::class)->getTag('doctrine.dbal.schema_filter'));
    }

    /**
     * @param array<string, array<string, mixed>> $transports their options by name
     * @param array<string, mixed> $options of all transports
     */
    private function container(array $transports, array $options = []): ContainerBuilder
    {
        $container = new ContainerBuilder();
        (new DelayQueueExtension())->load([['options' => $options]], $container);
        foreach ($transports as $name => $own) {
            $container->register("messenger.transport.$name")->setArguments(['%env(DSN)%', $own + ['transport_name' => $name]])->addTag('messenger.receiver', ['alias' => $name]);
        }
        $container->setParameter('doctrine.connections', ['default' => 'doctrine.dbal.default_connection', 'shop' => 'doctrine.dbal.shop_connection']);
        foreach (['doctrine', 'doctrine.dbal.schema_asset_filter_manager', 'doctrine.dbal.default_connection', 'doctrine.dbal.shop_connection', 'my.connection'] as $service) {
            $container->register($service);
        }
        $container->setAlias('database_connection', 'doctrine.dbal.default_connection');
        (new DatabasePass())->process($container);

        return $container;
    }

    /**
     * @param list<string> $names
     *
     * @return list<string>
     */
    private function sorted(array $names): array
    {
        sort($names);

        return $names;
    }
}
