<?php

/** Delivers a job to an inbox: once.php DSN USER PASSWORD ID CREATED-AT STATEMENT…; each statement is run when a line has come, and "throw" throws. */

declare(strict_types=1);

use DelayQueue\Database\Inbox;

require dirname(__DIR__) . '/bootstrap.php';

[, $dsn, $user, $password, $id, $createdAt] = $argv;
$pdo = new PDO($dsn, $user ?: null, $password ?: null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 30]);
$queue = new DelayQueue('orders', 'memory://');
$queue->pushOnce([['receipt' => $id, 'payload' => null, 'id' => $id, 'createdAt' => (float) $createdAt]]);
$job = $queue->reserveJob($id);
try {
    echo json_encode((new Inbox($pdo))->once($job, static function (PDO $pdo) use ($argv): void {
        echo "working\n";
        foreach (array_slice($argv, 6) as $statement) {
            if (trim((string) fgets(STDIN)) === 'throw') {
                throw new RuntimeException('no stock');
            }
            $pdo->exec($statement);
            echo "did it\n";
        }
    })), "\n";
} catch (Throwable $error) {
    echo $error::class, ' ', strtr($error->getMessage(), "\n", ' '), "\n";
}
