<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\DependencyInjection;

use DelayQueue\Symfony\Command\RelayCommand;
use DelayQueue\Symfony\Database\FlushMiddleware;
use DelayQueue\Symfony\Database\InboxMiddleware;
use DelayQueue\Symfony\Database\SchemaFilter;
use DelayQueue\Symfony\Transport\TransportFactory;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\Compiler\ServiceLocatorTagPass;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;

/** Connects outboxes and inbox to the services of DoctrineBundle, where they are used. It runs before the passes of that bundle and of Messenger. */
final class DatabasePass implements CompilerPassInterface
{
    public function process(ContainerBuilder $container): void
    {
        if (!$container->hasDefinition(TransportFactory::class)) {
            return;
        }
        $this->addOutboxes($container);
        if ($container->has('doctrine')) {
            // Under this name a bus knows it as delayqueue_inbox.
            $container->register('messenger.middleware.delayqueue_inbox', InboxMiddleware::class)->setAbstract(true)->setArguments([new Reference('doctrine')]);
        }
        if ($container->hasDefinition('doctrine.dbal.schema_asset_filter_manager')) {
            $filter = $container->register(SchemaFilter::class, SchemaFilter::class);
            foreach (array_keys($container->getParameter('doctrine.connections')) as $connection) {
                $filter->addTag('doctrine.dbal.schema_filter', ['connection' => $connection]);
            }
        }
    }

    private function addOutboxes(ContainerBuilder $container): void
    {
        $transports = $this->outboxes($container);
        if ($transports === []) {
            return;
        }
        $connections = [];
        $middleware = $container->register(FlushMiddleware::class, FlushMiddleware::class);
        foreach (array_unique($transports) as $name) {
            $id = $container->has("doctrine.dbal.{$name}_connection") ? "doctrine.dbal.{$name}_connection" : $name;
            if (!$container->has($id)) {
                continue; // The transport says so, and by its name.
            }
            $connections[$name] = new Reference($id);
            if (preg_match('/^doctrine\.dbal\.(.+)_connection$/D', self::target($container, $id), $found) === 1) {
                $middleware->addTag('doctrine.middleware', ['connection' => $found[1]]);
            }
        }
        $container->getDefinition(TransportFactory::class)->setArgument(2, ServiceLocatorTagPass::register($container, $connections));
        $container->register(RelayCommand::class, RelayCommand::class)
            ->setArguments([
                new Reference('messenger.receiver_locator'),
                new Reference(TransportFactory::class),
                array_keys($transports),
                new Reference('logger', ContainerBuilder::NULL_ON_INVALID_REFERENCE),
                new Reference('cache.messenger.restart_workers_signal', ContainerBuilder::NULL_ON_INVALID_REFERENCE),
            ])
            ->addTag('console.command', ['command' => 'delayqueue:relay'])
            ->addTag('monolog.logger', ['channel' => 'messenger']);
    }

    /** @return array<string, string> the option outbox of each transport that has it, by the transport's name */
    private function outboxes(ContainerBuilder $container): array
    {
        $default = $container->getDefinition(TransportFactory::class)->getArgument(0)['outbox'] ?? null;
        $outboxes = [];
        foreach ($container->findTaggedServiceIds('messenger.receiver') as $id => [$tag]) {
            $options = $container->getDefinition($id)->getArguments()[1] ?? [];
            $outbox = is_array($options) && array_key_exists('outbox', $options) ? $options['outbox'] : $default;
            if (is_string($outbox)) {
                $outboxes[$tag['alias'] ?? $id] = $outbox;
            }
        }

        return $outboxes;
    }

    /** The service that an alias means. */
    private static function target(ContainerBuilder $container, string $id): string
    {
        while ($container->hasAlias($id)) {
            $id = (string) $container->getAlias($id);
        }

        return $id;
    }
}
