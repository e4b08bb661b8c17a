<?php

declare(strict_types=1);

/**
 * Orders and stock in SQLite. Every change of an order is one conditional UPDATE, so it takes effect once, however often
 * and from however many processes it is asked for.
 */
final class Shop
{
    private readonly PDO $db;

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
    }

    /**
     * Takes a piece from the stock for a new order.
     *
     * @param callable(string): mixed $schedule gets the order's id before the order is committed: if it throws, there is
     *        no order. The other way round an order could stay that nobody will ever close.
     *
     * @return string the order's id
     */
    public function place(string $item, float $payWithin, callable $schedule): string
    {
        return $this->atomically(function () use ($item, $payWithin, $schedule): string {
            if ($this->change('UPDATE stock SET pieces = pieces - 1 WHERE item = ? AND pieces > 0', [$item]) === 0) {
                throw new DomainException("no $item left");
            }
            $this->change(
                'INSERT INTO orders (item, placed_at, pay_within) VALUES (?, ?, ?)',
                [$item, microtime(true), $payWithin],
            );
            $id = 'order-' . $this->db->lastInsertId();
            $schedule($id);

            return $id;
        });
    }

    /** False if the order is not open any more. */
    public function pay(string $id): bool
    {
        return $this->settle($id, 'paid');
    }

    /** Closes an unpaid order and puts its piece back. False if the order is not open any more. */
    public function close(string $id): bool
    {
        return $this->atomically(fn (): bool => $this->settle($id, 'closed') && $this->change(
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

    /**
     * @template T
     *
     * @param Closure(): T $work
     *
     * @return T
     */
    private function atomically(Closure $work): mixed
    {
        $this->db->exec('BEGIN IMMEDIATE');
        try {
            $result = $work();
            $this->db->exec('COMMIT');
        } catch (Throwable $error) {
            $this->db->exec('ROLLBACK');
            throw $error;
        }

        return $result;
    }
}
