<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Database;

use DelayQueue\Database\Schema;
use Doctrine\DBAL\Schema\AbstractAsset;

/**
 * Hides the tables of the database side from Doctrine's tools, which would drop what no entity describes. Their types and settings are those
 * that Schema::install() knows; no description in Doctrine's words is equal to them on each database.
 */
final class SchemaFilter
{
    private const TABLES = [Schema::OUTBOX, Schema::SOURCE, Schema::JOBS];

    /** @param string|AbstractAsset $asset a table, or its name, with or without its schema */
    public function __invoke(string|AbstractAsset $asset): bool
    {
        $name = $asset instanceof AbstractAsset ? $asset->getName() : $asset;

        return !in_array(strtolower(substr(strrchr(".$name", '.'), 1)), self::TABLES, true);
    }
}
