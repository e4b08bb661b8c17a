<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\DependencyInjection;

use Symfony\Component\Config\Definition\Builder\TreeBuilder;
use Symfony\Component\Config\Definition\ConfigurationInterface;

/** The configuration of the bundle, all of it optional. */
final class Configuration implements ConfigurationInterface
{
    public function getConfigTreeBuilder(): TreeBuilder
    {
        $tree = new TreeBuilder('delay_queue');
        $root = $tree->getRootNode();
        $root->children()
            ->scalarNode('default_transport')->defaultNull()->info('The transport that the Canceller means where none is named.')->end()
            ->floatNode('wait')->min(0)->defaultValue(45.0)
                ->info('Seconds that an idle worker waits before it looks at its limits; 0: it sleeps instead.')->end()
            ->variableNode('options')->defaultValue([])->info('Options of all delayqueue transports, such as ttr: 60.')
                ->validate()->ifTrue(static fn (mixed $options): bool => !is_array($options))->thenInvalid('It must be a map of options.')->end()
            ->end()
            ->arrayNode('dashboard')->addDefaultsIfNotSet()->info('The pages of the route delayqueue_dashboard. They are closed unless a role may read.')
                ->children()
                    ->scalarNode('role_read')->defaultNull()->info('Who may look, such as ROLE_ADMIN; null: nobody. It needs SecurityBundle.')->end()
                    ->scalarNode('role_write')->defaultNull()->info('Who of these may also change something; null: nobody.')->end()
                    ->scalarNode('transport')->defaultNull()->info('The transport whose Redis, prefix and keys the pages have; null: default_transport.')->end()
                    ->scalarNode('journal')->defaultNull()->info('The DBAL connection that has the table of the journal; null: no journal is shown.')->end()
                ->end()
            ->end();

        return $tree;
    }
}
