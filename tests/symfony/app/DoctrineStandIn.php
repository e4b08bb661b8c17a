<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use DelayQueue\Symfony\Database\FlushMiddleware;
use Doctrine\DBAL\Configuration;
use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Tools\DsnParser;
use Symfony\Component\DependencyInjection\ChildDefinition;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\HttpKernel\Bundle\Bundle;

/** Stands for DoctrineBundle, which no Debian has: services, parameters and tags of a connection "default" to DATABASE_URL, by its names. */
final class DoctrineStandIn extends Bundle implements CompilerPassInterface
{
    public function build(ContainerBuilder $container): void
    {
        $container->setParameter('doctrine.connections', ['default' => 'doctrine.dbal.default_connection']);
        $container->register('doctrine.dbal.default_connection.configuration', Configuration::class);
        $container->register('doctrine.dbal.default_connection', Connection::class)
            ->setFactory([self::class, 'connect'])
            ->setArguments(['%env(DATABASE_URL)%', new Reference('doctrine.dbal.default_connection.configuration')])
            ->setPublic(true);
        $container->register('doctrine', Registry::class)->setArguments([new Reference('doctrine.dbal.default_connection')])->setPublic(true);
        $container->addCompilerPass($this);
    }

    /** As its MiddlewaresPass. */
    public function process(ContainerBuilder $container): void
    {
        $middlewares = [];
        foreach ($container->findTaggedServiceIds('doctrine.middleware') as $id => $tags) {
            if (in_array('default', array_column($tags, 'connection'), true)) {
                $container->setDefinition("$id.default", new ChildDefinition($id));
                $middlewares[] = new Reference("$id.default");
            }
        }
        $container->getDefinition('doctrine.dbal.default_connection.configuration')->addMethodCall('setMiddlewares', [$middlewares]);
    }

    public static function connect(string $url, Configuration $configuration): Connection
    {
        if (getenv('DIE_AT_COMMIT')) {
            // Before the listener of any outbox.
            $accident = new FlushMiddleware();
            $accident->onEnd(static fn () => posix_kill(getmypid(), SIGKILL));
            $configuration->setMiddlewares([$accident]);
        }
        $schemes = ['sqlite' => 'pdo_sqlite', 'pgsql' => 'pdo_pgsql', 'mysql' => 'pdo_mysql'];

        return DriverManager::getConnection((new DsnParser($schemes))->parse($url), $configuration);
    }
}
