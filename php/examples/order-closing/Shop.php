<?php

declare(strict_types=1);

use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;
use DelayQueue\NewJob;

require_once __DIR__ . '/../../autoload.php';

/**
 * Orders and stock in SQLite. Every change of an order is one conditional UPDATE, so it takes effect once, however often
 * and from however many processes it is asked for. An order and its job are one transaction.
 */
final class Shop
{
    private readonly PDO $db;

    private readonly Outbox $outbox;

    public function __construct(?string $file = null)
    {
        $file ??= getenv('SHOP_DATABASE') ?: sys_get_temp_dir() . '/delayqueue-shop.sqlite';
        $this->db = new PDO("sqlite:$file", null, null, [PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
        $this->db->exec('PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
        $this->db->exec(<<<'SQL'
            CREATE TABLE IF NOT EXISTS stock (item TEXT PRIMARY KEY, pieces INTEGER NOT NULL);
            CREATE TABLE IF NOT EXISTS orders (
                number INTEGER PRIMARY KEY, item TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open',
                placed_at REAL NOT NULL, pay_within REAL NOT NULL, settled_at REAL
            );
            INSERT OR IGNORE INTO stock VALUES ('teapot', 1000);
            SQL);
        Schema::install($this->db);
        $this->outbox = new Outbox($this->db);
    }

    /**
     * Takes a piece from the stock for a new order, which is closed unless it is paid in time. Redis may be away: then the relay pushes the job.
     *
     * @return string the order's id
     */
    public function place(string $item, float $payWithin): string
    {
        return $this->outbox->transaction(function () use ($item, $payWithin): string {
            if ($this->change('UPDATE stock SET pieces = pieces - 1 WHERE item = ? AND pieces > 0', [$item]) === 0) {
                throw new DomainException("no $item left");
            }
            $this->change(
                'INSERT INTO orders (item, placed_at, pay_within) VALUES (?, ?, ?)',
                [$item, microtime(true), $payWithin],
            );
            $id = 'order-' . $this->db->lastInsertId();

            return $this->outbox->push('orders', new NewJob(
                ['order' => $id],
                delay: $payWithin,
                id: $id, // so that the payment finds it
                ttr: 3, // closing takes milliseconds: a worker that died in it is noticed after 3 s
            ));
        });
    }

    /** False if the order is not open any more. */
    public function pay(string $id): bool
    {
        return $this->outbox->transaction(function () use ($id): bool {
            $paid = $this->settle($id, 'paid');
            // Only saves the worker some work: an order that is paid would not be closed anyway.
            $paid && $this->outbox->cancel('orders', $id);

            return $paid;
        });
    }

    /** Closes an unpaid order and puts its piece back. False if the order is not open any more. */
    public function close(string $id): bool
    {
        return $this->outbox->transaction(fn (): bool => $this->settle($id, 'closed') && $this->change(
            'UPDATE stock SET pieces = pieces + 1 WHERE item = (SELECT item FROM orders WHERE number = ?)',
            [self::number($id)],
        ) === 1);
    }

    private function settle(string $id, string $state): bool
    {
        return $this->change(
            "UPDATE orders SET state = ?, settled_at = ? WHERE number = ? AND state = 'open'",
            [$state, microtime(true), self::number($id)],
        ) === 1;
    }

    private static function number(string $id): int
    {
        return (int) substr($id, strlen('order-'));
    }

    /** @param list<string|float|int> $values */
    private function change(string $sql, array $values): int
    {
        $statement = $this->db->prepare($sql);
        $statement->execute($values);

        return $statement->rowCount();
    }
}
