<?php

/** Boots an application of Symfony with the configuration in SAMPLE, and sets its transports up. */

declare(strict_types=1);

namespace App\Message {
    final class CloseOrder
    {
    }
}

namespace {
    use DelayQueue\Symfony\DelayQueueBundle;
    use DelayQueue\Tests\Symfony\App\DoctrineStandIn;
    use Symfony\Bundle\FrameworkBundle\Console\Application;
    use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
    use Symfony\Component\Config\Loader\LoaderInterface;
    use Symfony\Component\Console\Input\ArrayInput;
    use Symfony\Component\DependencyInjection\ContainerBuilder;
    use Symfony\Component\HttpKernel\Kernel;

    require __DIR__ . '/shared/symfony.php';

    final class SampleKernel extends Kernel
    {
        private readonly string $sample;

        public function __construct()
        {
            $this->sample = (string) file_get_contents((string) getenv('SAMPLE'));
            parent::__construct('test', false);
        }

        public function registerBundles(): iterable
        {
            return [
                new FrameworkBundle(),
                // Services of the sample stand for those of the bundle.
                ...($this->says('services') ? [] : [new DelayQueueBundle()]),
                ...(str_contains($this->sample, 'outbox') ? [new DoctrineStandIn()] : []),
            ];
        }

        public function getProjectDir(): string
        {
            return (string) getcwd();
        }

        public function getCacheDir(): string
        {
            return getcwd() . '/cache-' . md5($this->sample);
        }

        public function getLogDir(): string
        {
            return $this->getCacheDir();
        }

        public function registerContainerConfiguration(LoaderInterface $loader): void
        {
            $messenger = ['transports' => ['orders' => '%env(MESSENGER_TRANSPORT_DSN)%', 'failed' => '%env(MESSENGER_TRANSPORT_DSN)%']];
            $framework = ['secret' => 'sample', 'http_method_override' => false] + ($this->says('framework') ? [] : ['messenger' => $messenger]);
            $loader->load(static fn (ContainerBuilder $container) => $container->loadFromExtension('framework', $framework));
            $loader->load((string) getenv('SAMPLE'));
        }

        private function says(string $section): bool
        {
            return preg_match("/^$section:/m", $this->sample) === 1;
        }
    }

    $application = new Application(new SampleKernel());
    $application->setAutoExit(false);
    $application->run(new ArrayInput(['command' => 'messenger:setup-transports'])) === 0 || exit(1);
    $application->run(new ArrayInput(['command' => 'debug:messenger'])) === 0 || exit(1);
}
