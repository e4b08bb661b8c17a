<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

/** Tests that run once on each database: their data provider is databases(), or servers(). */
trait OnEachDatabase
{
    protected function tearDown(): void
    {
        parent::tearDown();
        DatabaseServer::dropAll();
    }

    /** @return iterable<string, array{string}> */
    public static function databases(): iterable
    {
        foreach (DatabaseServer::names() as $name) {
            yield $name => [$name];
        }
    }

    /** Databases with a process of their own. @return iterable<string, array{string}> */
    public static function servers(): iterable
    {
        yield from array_diff_key(iterator_to_array(self::databases()), ['sqlite' => true]);
    }
}
