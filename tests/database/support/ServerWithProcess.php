<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use PDO;
use RuntimeException;

/** PostgreSQL, MariaDB and MySQL, less what each of them does in its own way. */
abstract class ServerWithProcess extends DatabaseServer
{
    protected const ADMIN = 'root';

    private ?PrivateServer $server = null;

    public function admin(string $database = 'test'): PDO
    {
        return new PDO($this->dsn($database), static::ADMIN, '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    }

    public function folder(): string
    {
        return $this->server()->folder;
    }

    public function pid(): int
    {
        return $this->server()->pid();
    }

    public function kill(): void
    {
        $this->server()->halt(SIGKILL);
    }

    public function restart(): void
    {
        $this->server()->halt($this->stopSignal());
        $this->launch();
    }

    public function stop(): void
    {
        $this->server?->stop();
        $this->server = null;
        parent::stop();
    }

    protected function start(): void
    {
        $this->server = new PrivateServer();
        $this->launch();
        $this->prepare();
    }

    protected function processes(): array
    {
        return $this->server()->processes();
    }

    /** @return string shell commands that make the data, where there are none, and become the server; it begins in the folder */
    abstract protected function script(): string;

    /** Connections lost, all data written. */
    abstract protected function stopSignal(): int;

    /** The database that each new server has. */
    abstract protected function firstDatabase(): string;

    /** Makes the ordinary user and its first database. */
    abstract protected function prepare(): void;

    private function launch(): void
    {
        $this->server()->start(['/bin/sh', '-euc', $this->script()], fn (): PDO => $this->admin($this->firstDatabase()));
    }

    private function server(): PrivateServer
    {
        return $this->server ?? throw new RuntimeException("this {$this->name()} server has been stopped");
    }
}
