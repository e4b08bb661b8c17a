<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Database;

use Closure;
use DelayQueue\Symfony\Compat\TransactionAware;
use Doctrine\DBAL\Driver;
use Doctrine\DBAL\Driver\Connection as DriverConnection;
use Doctrine\DBAL\Driver\Middleware;
use Doctrine\DBAL\Driver\Middleware\AbstractDriverMiddleware;
use Throwable;

/** Tells of the ends of a connection's transactions: DBAL itself has no event for them. DbalConnection::flushAfterCommit() uses it. */
final class FlushMiddleware implements Middleware
{
    /** @var list<Closure(DriverConnection, bool): void> */
    private array $listeners = [];

    /** @param Closure(DriverConnection, bool): void $listener gets the driver's connection, and whether it has committed */
    public function onEnd(Closure $listener): void
    {
        $this->listeners[] = $listener;
    }

    public function wrap(Driver $driver): Driver
    {
        return new class ($driver, $this->ended(...)) extends AbstractDriverMiddleware {
            public function __construct(Driver $driver, private readonly Closure $ended)
            {
                parent::__construct($driver);
            }

            public function connect(#[\SensitiveParameter] array $params): DriverConnection
            {
                return new TransactionAware(parent::connect($params), $this->ended);
            }
        };
    }

    private function ended(DriverConnection $driver, bool $committed): void
    {
        foreach ($this->listeners as $listener) {
            try {
                $listener($driver, $committed);
            } catch (Throwable) {
                // It is committed, or rolled back, whatever fails here; the relay pushes what was not flushed.
            }
        }
    }
}
