<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

/**
 * Tests on databases: where a dialect can break the test its data provider is dialects(), or servers(), else
 * databases(), which are fewer unless the environment variable DATABASES names them.
 */
trait OnEachDatabase
{
    protected function tearDown(): void
    {
        parent::tearDown();
        DatabaseServer::dropAll();
    }

    /** PostgreSQL, or what DATABASES names. @return iterable<string, array{string}> */
    public static function databases(): iterable
    {
        foreach (DatabaseServer::chosen() ?: ['postgresql'] as $name) {
            yield $name => [$name];
        }
    }

    /** Each kind of database that is there, or what DATABASES names. @return iterable<string, array{string}> */
    public static function dialects(): iterable
    {
        foreach (DatabaseServer::names() as $name) {
            yield $name => [$name];
        }
    }

    /** Databases with a process of their own. @return iterable<string, array{string}> */
    public static function servers(): iterable
    {
        yield from array_diff_key(iterator_to_array(self::dialects()), ['sqlite' => true]);
    }
}
