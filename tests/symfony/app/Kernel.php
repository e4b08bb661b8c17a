<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use DelayQueue\Symfony\Canceller;
use DelayQueue\Symfony\DelayQueueBundle;
use DelayQueue\Symfony\DependencyInjection\DatabasePass;
use DelayQueue\Symfony\DependencyInjection\DelayQueueExtension;
use ReflectionClass;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\HttpKernel\Kernel as BaseKernel;

/** A small application with all that the tests need. MESSENGER_DSN and MESSENGER_DSN_2 name Redises, APP_FOLDER a folder of its own. */
final class Kernel extends BaseKernel
{
    /** Options of transports. */
    public const OPTIONS = [
        'short' => ['ttr' => 2],
        'bare' => ['ttr' => 2, 'heartbeat' => false],
        'buries' => ['bury_on_reject' => true],
        'ahead' => ['ttr' => 1, 'prefetch' => 10, 'max_attempts' => 2],
        'shop' => ['outbox' => 'default', 'ttr' => 2],
    ];

    public static function make(): self
    {
        return new self(getenv('APP_ENV') ?: 'test', false);
    }

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new DelayQueueBundle(), ...($this->isShop() ? [new DoctrineStandIn()] : [])];
    }

    public function getProjectDir(): string
    {
        return __DIR__;
    }

    public function getCacheDir(): string
    {
        $made = implode(' ', array_map(static fn (string $class): int => (int) filemtime((string) (new ReflectionClass($class))->getFileName()), [self::class, DoctrineStandIn::class, DelayQueueExtension::class, DatabasePass::class]));

        return sys_get_temp_dir() . '/delayqueue-symfony-' . self::VERSION . '-' . md5(__DIR__ . PHP_VERSION . $made . getmyuid() . $this->environment);
    }

    public function getLogDir(): string
    {
        return $this->getCacheDir();
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load($this->configure(...));
    }

    private function configure(ContainerBuilder $container): void
    {
        $retry = ['max_retries' => 3, 'delay' => 50, 'multiplier' => 1];
        $transport = static fn (array $options = [], string $dsn = '%env(MESSENGER_DSN)%'): array => [
            'dsn' => $dsn, 'options' => $options, 'retry_strategy' => $retry,
        ];
        $container->loadFromExtension('framework', [
            'secret' => 'test',
            'test' => true,
            'http_method_override' => false,
            'lock' => false, // Tests have stand-ins for that component, and processes of the application have not.
            'messenger' => [
                'failure_transport' => 'failed',
                'transports' => [
                    'orders' => $transport(),
                    'mails' => $transport(),
                    'short' => $transport(self::OPTIONS['short']),
                    'bare' => $transport(self::OPTIONS['bare']),
                    'buries' => $transport(self::OPTIONS['buries']),
                    'ahead' => $transport(self::OPTIONS['ahead']),
                    'elsewhere' => $transport([], '%env(MESSENGER_DSN_2)%'),
                    'memory' => 'in-memory://',
                    'failed' => ['retry_strategy' => ['delay' => 3_600_000] + $retry] + $transport(), // its retries come when a test says so
                ],
                'routing' => [Work::class => 'orders', BatchWork::class => 'orders'],
            ],
        ]);
        $container->loadFromExtension('delay_queue', ['default_transport' => 'orders']);
        $container->register(Journal::class)->setArguments(['%env(APP_FOLDER)%/journal'])->setPublic(true);
        foreach ([Handler::class, BatchHandler::class] as $handler) {
            $container->register($handler)->setAutowired(true)->addTag('messenger.message_handler');
        }
        if ($this->isShop()) {
            $this->configureShop($container, $transport);
        }
        $container->setAlias('test.canceller', Canceller::class)->setPublic(true);
        $container->setAlias('test.receivers', 'messenger.receiver_locator')->setPublic(true);
        $container->setAlias('test.bus', 'messenger.default_bus')->setPublic(true);
    }
    /** The environment with a database. */
    private function isShop(): bool
    {
        return $this->environment === 'shop';
    }

    /** @param callable(array<string, mixed>): array<string, mixed> $transport */
    private function configureShop(ContainerBuilder $container, callable $transport): void
    {
        $container->loadFromExtension('framework', ['messenger' => [
            'transports' => ['shop' => $transport(self::OPTIONS['shop'])],
            'routing' => [ShopWork::class => 'shop'],
            'buses' => ['messenger.bus.default' => ['middleware' => [Accident::class, 'delayqueue_inbox']]],
        ]]);
        $container->register(Accident::class)->setArguments(['%env(APP_FOLDER)%']);
        $container->register(ShopHandler::class)
            ->setArguments([new Reference('doctrine'), new Reference(Journal::class), new Reference('messenger.default_bus')])
            ->addTag('messenger.message_handler');
        $container->register(OrderCommand::class)
            ->setArguments([new Reference('doctrine'), new Reference('messenger.default_bus')])
            ->addTag('console.command', ['command' => 'shop:order']);
    }
}
