<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use PDO;

/** SQLite has no server: its database is a file, in a folder that is as temporary as the others'. */
final class SqliteFiles extends DatabaseServer
{
    /** Of it only the folder is used. */
    private ?PrivateServer $place = null;

    public function name(): string
    {
        return 'sqlite';
    }

    public function driver(): string
    {
        return 'sqlite';
    }

    public function dsn(string $database = 'test'): string
    {
        return "sqlite:{$this->file($database)}";
    }

    public function socket(): ?string
    {
        return null;
    }

    public function folder(): string
    {
        return $this->place->folder;
    }

    public function user(): ?string
    {
        return null;
    }

    public function password(): ?string
    {
        return null;
    }

    public function pdo(string $database = 'test'): PDO
    {
        $pdo = new PDO($this->dsn($database), null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 30]);
        $pdo->exec('PRAGMA synchronous = FULL');

        return $pdo;
    }

    public function admin(string $database = 'test'): PDO
    {
        return $this->pdo($database);
    }

    public function pid(): ?int
    {
        return null;
    }

    public function kill(): void
    {
    }

    public function restart(): void
    {
    }

    public function stop(): void
    {
        $this->place?->stop();
        $this->place = null;
        parent::stop();
    }

    protected function start(): void
    {
        $this->place = new PrivateServer(owned: false);
        $this->place->start(['true'], static fn () => null);
        $this->create('test');
    }

    protected function processes(): array
    {
        return [];
    }

    protected function create(string $database): void
    {
        // The file remembers the mode.
        $this->pdo($database)->exec('PRAGMA journal_mode = WAL');
    }

    protected function drop(string $database): void
    {
        foreach (['', '-wal', '-shm'] as $suffix) {
            @unlink($this->file($database) . $suffix);
        }
    }

    private function file(string $database): string
    {
        return "{$this->folder()}/$database.db";
    }
}
