<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use Closure;
use PDO;
use PDOStatement;

/** A connection to which something happens just before certain statements. */
final class HookedPdo extends PDO
{
    /** @var (Closure(string): void)|null gets the SQL */
    public ?Closure $before = null;

    #[\ReturnTypeWillChange]
    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        $this->before === null || ($this->before)($query);

        return parent::prepare($query, $options);
    }
}
