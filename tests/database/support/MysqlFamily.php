<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use PDOException;

/** MariaDB and MySQL have this in common. */
abstract class MysqlFamily extends ServerWithProcess
{
    protected const SETTINGS = '--no-defaults --datadir="$PWD/data" --tmpdir="$PWD" --innodb-buffer-pool-size=32M';

    protected const SERVER_SETTINGS = '--socket="$PWD/mysql.sock" --pid-file="$PWD/pid" --skip-networking --character-set-server=utf8mb4';

    public function driver(): string
    {
        return 'mysql';
    }

    public function dsn(string $database = 'test'): string
    {
        return "mysql:unix_socket={$this->socket()};dbname=$database;charset=utf8mb4";
    }

    public function socket(): string
    {
        return $this->folder() . '/mysql.sock';
    }

    protected function stopSignal(): int
    {
        return SIGTERM;
    }

    protected function firstDatabase(): string
    {
        return 'mysql';
    }

    protected function prepare(): void
    {
        $admin = $this->admin('mysql');
        $admin->exec("CREATE USER {$this->user()}@localhost IDENTIFIED BY '{$this->password()}'");
        $admin->exec("GRANT ALL ON `test%`.* TO {$this->user()}@localhost");
        $this->create('test');
    }

    protected function create(string $database): void
    {
        $this->admin('mysql')->exec("CREATE DATABASE $database");
    }

    protected function drop(string $database): void
    {
        try {
            $admin = $this->admin('mysql');
            $admin->exec('SET lock_wait_timeout = 1');
            $admin->exec("DROP DATABASE IF EXISTS $database");
        } catch (PDOException) {
            // A transaction is open in it, or a test has stopped the server.
        }
    }
}
