<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\DependencyInjection;

use DelayQueue\Database\Journal;
use DelayQueue\Symfony\Canceller;
use DelayQueue\Symfony\Dashboard\DashboardController;
use DelayQueue\Symfony\Database\DbalConnection;
use DelayQueue\Symfony\Transport\TransportFactory;
use DelayQueue\Symfony\Worker\NoteFailures;
use DelayQueue\Symfony\Worker\WaitWhileIdle;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Extension\Extension;
use Symfony\Component\DependencyInjection\Reference;

/** The services of the bundle. */
final class DelayQueueExtension extends Extension
{
    public function getAlias(): string
    {
        return 'delay_queue';
    }

    public function getConfiguration(array $config, ContainerBuilder $container): Configuration
    {
        return new Configuration();
    }

    public function load(array $configs, ContainerBuilder $container): void
    {
        $config = $this->processConfiguration(new Configuration(), $configs);

        $container->register(TransportFactory::class)
            ->setArguments([$config['options'], new Reference('logger', ContainerInterface::NULL_ON_INVALID_REFERENCE)])
            ->setArgument('$locks', new Reference('lock.factory', ContainerInterface::NULL_ON_INVALID_REFERENCE))
            ->addTag('messenger.transport_factory')
            ->addTag('monolog.logger', ['channel' => 'messenger']);
        $container->register(NoteFailures::class)->addTag('kernel.event_subscriber');
        if ($config['wait'] > 0) {
            $container->register(WaitWhileIdle::class)
                ->setArguments([
                    new Reference(TransportFactory::class),
                    $config['wait'],
                    new Reference(
                        'cache.messenger.restart_workers_signal',
                        ContainerInterface::NULL_ON_INVALID_REFERENCE,
                    ),
                ])
                ->addTag('kernel.event_subscriber');
        }
        $container->register(Canceller::class)
            ->setArguments([new Reference('messenger.receiver_locator'), new Reference(TransportFactory::class), $config['default_transport']]);
        $this->addDashboard($config['dashboard'], $container);
    }

    /** @param array{role_read: ?string, role_write: ?string, transport: ?string, journal: ?string} $config */
    private function addDashboard(array $config, ContainerBuilder $container): void
    {
        $whereThere = static fn (string $service): Reference => new Reference($service, ContainerInterface::NULL_ON_INVALID_REFERENCE);
        $journal = $config['journal'] === null ? null : new Definition(Journal::class, [
            new Definition(DbalConnection::class, [new Reference("doctrine.dbal.{$config['journal']}_connection")]),
        ]);
        $container->register(DashboardController::class)
            ->setArguments([
                new Reference(Canceller::class),
                $config['transport'],
                $config['role_read'],
                $config['role_write'],
                $whereThere('security.authorization_checker'),
                $whereThere('security.token_storage'),
                $journal,
                $whereThere('logger'),
            ])
            ->addTag('controller.service_arguments')
            ->addTag('monolog.logger', ['channel' => 'delayqueue']);
    }
}
