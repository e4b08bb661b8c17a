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
            ->booleanNode('wait_while_idle')->defaultTrue()->info('Idle workers wait for messages instead of sleeping.')->end()
            ->variableNode('options')->defaultValue([])->info('Options of all delayqueue transports, such as ttr: 60.')
                ->validate()->ifTrue(static fn (mixed $options): bool => !is_array($options))->thenInvalid('It must be a map of options.')->end()
            ->end();

        return $tree;
    }
}
