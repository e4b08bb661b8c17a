<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Tests\Database\Support\DatabaseServer;
use PDO;

/** The settings that all processes of a shop share. Programs get them as JSON. */
final class ShopSettings
{
    public const QUEUE = 'orders';

    public function __construct(
        public readonly string $redis,
        public readonly string $database,
        public readonly ?string $user,
        public readonly ?string $password,
        public readonly string $folder,
        public readonly float $after,
        public readonly bool $journal,
        public readonly bool $regrets,
    ) {
    }

    public static function of(DatabaseServer $server, string $redis, string $folder, float $after, bool $journal, bool $regrets): self
    {
        return new self($redis, $server->dsn($server->fresh()), $server->user(), $server->password(), $folder, $after, $journal, $regrets);
    }

    public static function parse(string $json): self
    {
        return new self(...json_decode($json, true));
    }

    /** A new connection, as durable as those of users. */
    public function pdo(): PDO
    {
        $pdo = new PDO($this->database, $this->user, $this->password, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 30]);
        str_starts_with($this->database, 'sqlite:') && $pdo->exec('PRAGMA synchronous = FULL');

        return $pdo;
    }

    /** Jobs of killed workers come back soon. */
    public function queue(string $name = self::QUEUE): DelayQueue
    {
        return new DelayQueue($name, $this->redis, ['ttr' => 1, 'maxAttempts' => 0, 'backoff' => Backoff::fixed(0.1)]);
    }
}
