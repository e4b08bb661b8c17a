<?php

declare(strict_types=1);

namespace DelayQueue\Examples\Symfony;

use DelayQueue\Symfony\DelayQueueBundle;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Kernel as BaseKernel;

/** The whole application. One of your own has config/bundles.php and config/packages/ instead. */
final class Kernel extends BaseKernel
{
    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new DelayQueueBundle()];
    }

    public function getProjectDir(): string
    {
        return dirname(__DIR__);
    }

    public function getCacheDir(): string
    {
        $made = implode(' ', array_map(filemtime(...), glob($this->getProjectDir() . '/{config,src}/*', GLOB_BRACE) ?: []));

        return sys_get_temp_dir() . '/delayqueue-example-' . md5(__FILE__ . $made . self::VERSION . PHP_VERSION . $this->environment . getmyuid());
    }

    public function getLogDir(): string
    {
        return $this->getCacheDir();
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(static fn (ContainerBuilder $container) => $container->loadFromExtension('framework', [
            'secret' => 'example', 'http_method_override' => false,
        ]));
        $loader->load($this->getProjectDir() . '/config/messenger.yaml');
        $loader->load($this->getProjectDir() . '/config/services.yaml');
    }
}
