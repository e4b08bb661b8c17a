<?php

declare(strict_types=1);

namespace DelayQueue\Symfony;

use DelayQueue\Symfony\DependencyInjection\DatabasePass;
use DelayQueue\Symfony\DependencyInjection\DelayQueueExtension;
use Symfony\Component\DependencyInjection\Compiler\PassConfig;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Extension\ExtensionInterface;
use Symfony\Component\HttpKernel\Bundle\Bundle;

/** Brings the delayqueue transport into an application, lets its workers wait for messages, and offers the Canceller. */
final class DelayQueueBundle extends Bundle
{
    public function getContainerExtension(): ?ExtensionInterface
    {
        return $this->extension ??= new DelayQueueExtension();
    }

    public function build(ContainerBuilder $container): void
    {
        $container->addCompilerPass(new DatabasePass(), PassConfig::TYPE_BEFORE_OPTIMIZATION, 16);
    }

    public function getPath(): string
    {
        return __DIR__;
    }
}
