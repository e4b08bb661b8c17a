<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use PHPUnit\Framework\TestCase;

/** A test that runs once on each database: its data provider is databases(). */
abstract class DatabaseTestCase extends TestCase
{
    protected function tearDown(): void
    {
        DatabaseServer::dropAll();
    }

    /** @return iterable<string, array{string}> */
    public static function databases(): iterable
    {
        foreach (DatabaseServer::names() as $name) {
            yield $name => [$name];
        }
    }

    protected static function database(string $name): DatabaseServer
    {
        return DatabaseServer::named($name);
    }
}
