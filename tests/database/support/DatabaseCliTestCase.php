<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use DelayQueue;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;
use DelayQueue\Tests\Support\CliTestCase;
use PDO;

/** A test of php/bin/delayqueue with a fresh database and the private Redis of the test. */
abstract class DatabaseCliTestCase extends CliTestCase
{
    use OnEachDatabase;

    protected ?DatabaseServer $server = null;

    protected string $database = '';

    /** From now on commands and pdo() use a fresh database of this kind. */
    protected function useDatabase(string $name, bool $install = true): void
    {
        $this->server = DatabaseServer::named($name);
        $this->database = $this->server->fresh();
        $install && Schema::install($this->pdo(), true);
    }

    protected function pdo(): PDO
    {
        return $this->server->pdo($this->database);
    }

    /** @param array<string, mixed> $options of DelayQueue */
    protected function outbox(array $options = []): Outbox
    {
        return new Outbox($this->pdo(), fn (string $name): DelayQueue => new DelayQueue($name, $this->redis->dsn(), $options));
    }

    protected function rows(): int
    {
        return (int) $this->pdo()->query('select count(*) from delayqueue_outbox')->fetchColumn();
    }

    protected function environment(): array
    {
        $database = $this->server === null ? [] : [
            'DELAYQUEUE_DATABASE' => $this->server->dsn($this->database),
            'DELAYQUEUE_DATABASE_USER' => (string) $this->server->user(),
            'DELAYQUEUE_DATABASE_PASSWORD' => (string) $this->server->password(),
        ];

        return $database + parent::environment();
    }
}
