<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony\App;

use Doctrine\DBAL\Connection;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\ORMSetup;
use Doctrine\Persistence\AbstractManagerRegistry;
use InvalidArgumentException;
use Symfony\Component\Cache\Adapter\ArrayAdapter;

/** One connection and its entity manager, both called default. */
final class Registry extends AbstractManagerRegistry
{
    private ?EntityManager $manager = null;

    public function __construct(private readonly Connection $connection)
    {
        parent::__construct('test', ['default' => 'connection'], ['default' => 'manager'], 'default', 'default', \stdClass::class);
    }

    protected function getService(string $name): object
    {
        return match ($name) {
            'connection' => $this->connection,
            'manager' => $this->manager ??= $this->manager(),
            default => throw new InvalidArgumentException("no service $name"),
        };
    }

    protected function resetService(string $name): void
    {
        $this->manager = null;
    }

    private function manager(): EntityManager
    {
        $configuration = ORMSetup::createAttributeMetadataConfiguration([__DIR__ . '/Entity'], true, sys_get_temp_dir(), new ArrayAdapter());
        if (PHP_VERSION_ID >= 80400 && method_exists($configuration, 'enableNativeLazyObjects')) {
            $configuration->enableNativeLazyObjects(true);
        }

        return new EntityManager($this->connection, $configuration);
    }
}
