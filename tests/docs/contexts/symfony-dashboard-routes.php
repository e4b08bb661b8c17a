<?php

/** Routes in SAMPLE, loaded by an application of Symfony. */

declare(strict_types=1);

use DelayQueue\Symfony\DelayQueueBundle;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Kernel;

require __DIR__ . '/shared/symfony.php';

final class RoutesKernel extends Kernel
{
    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new DelayQueueBundle()];
    }

    public function getCacheDir(): string
    {
        return getcwd() . '/cache-routes';
    }

    public function getLogDir(): string
    {
        return $this->getCacheDir();
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(static function (ContainerBuilder $container): void {
            $container->loadFromExtension('framework', [
                'secret' => 'sample', 'http_method_override' => false, 'test' => true, 'messenger' => ['transports' => ['orders' => '%env(MESSENGER_DSN)%']],
                'router' => ['resource' => getenv('SAMPLE'), 'type' => 'yaml', 'utf8' => true],
            ]);
        });
    }
}

$kernel = new RoutesKernel('test', false);
$kernel->boot();
exit($kernel->getContainer()->get('router')->match('/_delayqueue/queue')['path'] === 'queue' ? 0 : 1);
