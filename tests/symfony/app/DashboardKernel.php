<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use DelayQueue\Symfony\DelayQueueBundle;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\SecurityBundle\SecurityBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Kernel as BaseKernel;

/** An application with the dashboard behind Basic authentication: ann may change, bob may look, eve may not look. */
final class DashboardKernel extends BaseKernel
{
    /**
     * @param array<string, mixed> $dashboard what delay_queue.dashboard says
     * @param bool $hasFirewall one in front of the dashboard
     */
    public function __construct(private readonly array $dashboard, private readonly bool $hasSecurity = true, private readonly bool $hasFirewall = true)
    {
        // Containers of two settings are two classes.
        parent::__construct('dashboard' . md5(serialize([getenv('APP_FOLDER'), $dashboard, $hasSecurity, $hasFirewall])), false);
    }

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new DelayQueueBundle(), ...($this->hasSecurity ? [new SecurityBundle()] : [])];
    }

    public function getProjectDir(): string
    {
        return __DIR__;
    }

    public function getCacheDir(): string
    {
        return getenv('APP_FOLDER') . "/cache-$this->environment";
    }

    public function getLogDir(): string
    {
        return (string) getenv('APP_FOLDER');
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load($this->configure(...));
    }

    private function configure(ContainerBuilder $container): void
    {
        $container->loadFromExtension('framework', [
            'secret' => 'test',
            'test' => true,
            'http_method_override' => false,
            'lock' => false,
            'router' => ['resource' => '@DelayQueueBundle/Dashboard/routes.php', 'type' => 'php', 'utf8' => true],
            'messenger' => ['transports' => ['orders' => '%env(MESSENGER_DSN)%', 'elsewhere' => '%env(MESSENGER_DSN_2)%']],
        ]);
        $container->loadFromExtension('delay_queue', ['default_transport' => 'orders', 'dashboard' => $this->dashboard]);
        if ($this->hasSecurity) {
            $container->loadFromExtension('security', $this->security());
        }
        $container->register('logger', Lines::class)->setArguments([getenv('APP_FOLDER') . '/log']);
    }

    /** @return array<string, mixed> */
    private function security(): array
    {
        $user = static fn (string ...$roles): array => ['password' => 'secret', 'roles' => $roles];
        $users = ['ann' => $user('ROLE_VIEW', 'ROLE_CHANGE'), 'bob' => $user('ROLE_VIEW'), 'eve' => $user('ROLE_USER')];

        return (self::MAJOR_VERSION < 6 ? ['enable_authenticator_manager' => true] : []) + [
            'password_hashers' => ['Symfony\Component\Security\Core\User\InMemoryUser' => 'plaintext'],
            'providers' => ['people' => ['memory' => ['users' => $users]]],
            'firewalls' => ['main' => ['pattern' => $this->hasFirewall ? '^/' : '^/elsewhere', 'http_basic' => null, 'provider' => 'people', 'stateless' => true]],
        ];
    }
}
