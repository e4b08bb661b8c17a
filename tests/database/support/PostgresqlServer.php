<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use PDOException;
use RuntimeException;

final class PostgresqlServer extends ServerWithProcess
{
    public function name(): string
    {
        return 'postgresql';
    }

    public function driver(): string
    {
        return 'pgsql';
    }

    public function dsn(string $database = 'test'): string
    {
        return "pgsql:host={$this->socket()};dbname=$database";
    }

    public function socket(): string
    {
        return $this->folder();
    }

    protected function script(): string
    {
        $programs = escapeshellarg(self::programs());

        // Shared memory in the folder is gone with it, even after a SIGKILL.
        return <<<SH
            if [ ! -d data ]; then
                $programs/initdb --pgdata=data --username=root --auth=trust --no-sync --encoding=UTF8 --locale=C.UTF-8
                printf 'local all root trust\\nlocal all all scram-sha-256\\n' >data/pg_hba.conf
            fi
            exec $programs/postgres -D data -c unix_socket_directories="\$PWD" -c listen_addresses= -c password_encryption=scram-sha-256 \\
                -c dynamic_shared_memory_type=mmap -c shared_buffers=16MB -c max_wal_size=256MB
            SH;
    }

    /** Its fast shutdown, which does not wait for clients. */
    protected function stopSignal(): int
    {
        return SIGINT;
    }

    protected function firstDatabase(): string
    {
        return 'postgres';
    }

    protected function prepare(): void
    {
        $this->admin('postgres')->exec("CREATE ROLE {$this->user()} LOGIN PASSWORD '{$this->password()}'");
        $this->create('test');
    }

    protected function create(string $database): void
    {
        $this->admin('postgres')->exec("CREATE DATABASE $database OWNER {$this->user()}");
    }

    protected function drop(string $database): void
    {
        try {
            $this->admin('postgres')->exec("DROP DATABASE IF EXISTS $database WITH (FORCE)");
        } catch (PDOException) {
            // A test has stopped the server.
        }
    }

    /** Debian's are not on the PATH, because several versions may be there. */
    private static function programs(): string
    {
        $folders = glob('/usr/lib/postgresql/*/bin', GLOB_ONLYDIR) ?: [];
        natsort($folders);
        $server = self::find('postgres');

        return array_pop($folders) ?? ($server === null ? null : dirname($server))
            ?? throw new RuntimeException('no PostgreSQL server here: run ./build.sh setup');
    }
}
