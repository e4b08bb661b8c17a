<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use PHPUnit\Framework\TestCase;

abstract class DatabaseTestCase extends TestCase
{
    use OnEachDatabase;

    protected static function database(string $name): DatabaseServer
    {
        return DatabaseServer::named($name);
    }
}
