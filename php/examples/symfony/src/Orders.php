<?php

declare(strict_types=1);

namespace DelayQueue\Examples\Symfony;

use DelayQueue\Database\Schema;
use DelayQueue\Symfony\Database\DbalConnection;
use Doctrine\DBAL\Connection;
use DomainException;

/** Orders and stock in the application's database. Its tables would come from migrations. */
final class Orders
{
    public function __construct(private readonly Connection $database)
    {
        Schema::install(new DbalConnection($database), jobs: true);
        $database->executeStatement('CREATE TABLE IF NOT EXISTS stock (item TEXT PRIMARY KEY, pieces INTEGER NOT NULL)');
        $database->executeStatement("CREATE TABLE IF NOT EXISTS orders (number INTEGER PRIMARY KEY, item TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open')");
        $database->executeStatement("INSERT OR IGNORE INTO stock VALUES ('teapot', 1000)");
    }

    /** Takes a piece from the stock for a new order. */
    public function place(string $item): string
    {
        if ($this->database->executeStatement('UPDATE stock SET pieces = pieces - 1 WHERE item = ? AND pieces > 0', [$item]) === 0) {
            throw new DomainException("no $item left");
        }
        $this->database->insert('orders', ['item' => $item]);

        return "order-{$this->database->lastInsertId()}";
    }

    /** False if the order is not open any more. */
    public function pay(string $order): bool
    {
        return $this->settle($order, 'paid');
    }

    /** Closes an unpaid order and puts its piece back. */
    public function close(string $order): void
    {
        if ($this->settle($order, 'closed')) {
            $this->database->executeStatement('UPDATE stock SET pieces = pieces + 1 WHERE item = (SELECT item FROM orders WHERE number = ?)', [self::number($order)]);
        }
    }

    private function settle(string $order, string $state): bool
    {
        return $this->database->update('orders', ['state' => $state], ['number' => self::number($order), 'state' => 'open']) === 1;
    }

    private static function number(string $order): int
    {
        return (int) substr($order, strlen('order-'));
    }
}
