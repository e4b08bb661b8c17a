<?php

/** Writes the ends of the same jobs as its twin, in an order of its own: twin.php DSN USER PASSWORD ROUNDS. It says what the journal reports. */

declare(strict_types=1);

use DelayQueue\Database\Journal;

require dirname(__DIR__) . '/bootstrap.php';

[, $dsn, $user, $password, $rounds] = $argv;
$open = static fn (): PDO => new PDO($dsn, $user ?: null, $password ?: null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 30]);
$report = static function (string $what, Throwable $error): void {
    echo "$what: ", strtr($error->getMessage(), "\n", ' '), "\n";
};
$queue = new DelayQueue('orders', 'memory://');
$journal = new Journal($open, batch: 100, atMost: 1000, report: $report);
$journal->watch($queue);
echo "ready\n";
fgets(STDIN);
for ($round = 0; $round < $rounds; $round++) {
    $numbers = range(1, 100);
    shuffle($numbers);
    $queue->pushOnce(array_map(static fn (int $n): array => ['receipt' => "$round/$n", 'id' => "order-$n", 'payload' => $n, 'createdAt' => 1.5], $numbers));
    $queue->drain(static fn () => null);
}
echo $journal->flush() ? "done\n" : "failed\n";
