<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Compat;

use Closure;
use Doctrine\DBAL\Driver\Connection;
use Doctrine\DBAL\Driver\Middleware\AbstractConnectionMiddleware;
use ReflectionMethod;

if ((new ReflectionMethod(AbstractConnectionMiddleware::class, 'commit'))->hasReturnType()) {
    /** @internal A driver's connection of DBAL 4. */
    final class TransactionAware extends AbstractConnectionMiddleware
    {
        /** @param Closure(Connection, bool): void $ended hears of the end of a transaction, and whether it was a commit */
        public function __construct(Connection $connection, private readonly Closure $ended)
        {
            parent::__construct($connection);
        }

        public function commit(): void
        {
            parent::commit();
            ($this->ended)($this, true);
        }

        public function rollBack(): void
        {
            parent::rollBack();
            ($this->ended)($this, false);
        }
    }
} else {
    /** @internal A driver's connection of DBAL 3, whose methods return whether it went well. */
    final class TransactionAware extends AbstractConnectionMiddleware
    {
        /** @param Closure(Connection, bool): void $ended hears of the end of a transaction, and whether it was a commit */
        public function __construct(Connection $connection, private readonly Closure $ended)
        {
            parent::__construct($connection);
        }

        public function commit(): bool
        {
            $done = parent::commit();
            $done && ($this->ended)($this, true);

            return $done;
        }

        public function rollBack(): bool
        {
            $done = parent::rollBack();
            $done && ($this->ended)($this, false);

            return $done;
        }
    }
}
