<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use DelayQueue\Database\Connection;

/** A connection to a database whose clock is wrong by some seconds. */
final class ShiftedClock implements Connection
{
    public function __construct(private readonly Connection $database, private readonly int $seconds)
    {
    }

    public function execute(string $sql, array $values = []): int
    {
        return $this->database->execute($this->shifted($sql), $values);
    }

    public function rows(string $sql, array $values = []): array
    {
        return $this->database->rows($this->shifted($sql), $values);
    }

    public function transaction(callable $work): mixed
    {
        return $this->database->transaction($work);
    }

    public function isInTransaction(): bool
    {
        return $this->database->isInTransaction();
    }

    public function driver(): string
    {
        return $this->database->driver();
    }

    public function handle(): object
    {
        return $this->database->handle();
    }

    private function shifted(string $sql): string
    {
        $now = match ($this->driver()) {
            'pgsql' => '\(extract\(epoch from clock_timestamp\(\)\) \* 1000000\)::bigint',
            'mysql' => "timestampdiff\(microsecond, '1970-01-01', utc_timestamp\(6\)\)",
            'sqlite' => '\b\d{16}\b',
        };

        return preg_replace("/$now/", "(\$0 + {$this->seconds}000000)", $sql);
    }
}
