<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Symfony;

use DelayQueue\Symfony\Database\SchemaFilter;
use Doctrine\DBAL\Configuration;
use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Tools\SchemaTool;

/** The changes that doctrine:schema:update and migrations:diff would make. */
final class SchemaTest extends DatabaseMessengerTestCase
{
    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testADiffLeavesTheTablesAloneAndSeesTheOthers(string $database): void
    {
        $this->useDatabase($database);
        $this->other()->executeStatement('create table leftover (id int)');
        $this->assertNotSame([], preg_grep('/drop table.*delayqueue_/i', $this->diff(null)), 'without the filter');

        $diff = $this->diff(new SchemaFilter());
        $this->assertSame([], preg_grep('/delayqueue_/i', $diff), implode("\n", $diff));
        $this->assertNotSame([], preg_grep('/drop table.*leftover/i', $diff), implode("\n", $diff));
    }

    public function testItHidesTheTablesAlsoByTheNameWithASchema(): void
    {
        $shown = array_filter(['delayqueue_outbox', 'public.delayqueue_jobs', 'delayqueue_source', 'delayqueue_outbox_2', 'orders', 'shop.orders'], new SchemaFilter());
        $this->assertSame(['delayqueue_outbox_2', 'orders', 'shop.orders'], array_values($shown));
    }

    /** @return list<string> SQL */
    private function diff(?SchemaFilter $filter): array
    {
        $configuration = new Configuration();
        $filter === null || $configuration->setSchemaAssetsFilter($filter);
        $manager = (new App\Registry($this->other($configuration)))->getManager();
        $this->assertInstanceOf(EntityManagerInterface::class, $manager);

        return array_values((new SchemaTool($manager))->getUpdateSchemaSql($manager->getMetadataFactory()->getAllMetadata()));
    }
}
