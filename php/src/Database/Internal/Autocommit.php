<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use Closure;
use DelayQueue\Database\Connection;

/**
 * Commits statements that belong to no transaction, also where the session does not: autocommit = 0 of MySQL and
 * MariaDB.
 *
 * @internal
 */
final class Autocommit
{
    /**
     * @template T
     *
     * @param Closure(): T $work statements
     *
     * @return T
     */
    public static function run(Connection $database, Closure $work): mixed
    {
        $isOutside = !$database->isInTransaction();
        $result = $work();
        if ($isOutside && $database->isInTransaction()) {
            $database->execute('commit');
        }

        return $result;
    }
}
