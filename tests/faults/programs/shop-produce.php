<?php

/**
 * Takes orders: each is a row of "orders" and, in the same transaction, a job. A tenth of the transactions is rolled back. Some push a job for an hour
 * later, which the next one cancels. Ends when it has as many orders as it should.
 *
 *     shop-produce.php SETTINGS SLOT ORDERS MOST-OF-A-TRANSACTION FLUSH
 */

declare(strict_types=1);

use DelayQueue\Database\Outbox;
use DelayQueue\NewJob;
use DelayQueue\Tests\Faults\Support\ShopSettings;

require dirname(__DIR__) . '/support/bootstrap.php';

[, $settings, $slot, $orders, $most, $flush] = $argv;
$settings = ShopSettings::parse($settings);
$pdo = $settings->pdo();
$outbox = new Outbox($pdo, $settings->queue(...), $settings->journal);
$insert = $pdo->prepare('INSERT INTO orders (slot, n, token, earliest) VALUES (?, ?, ?, ?)');
$last = static fn (): int => (int) $pdo->query("SELECT coalesce(max(n), 0) FROM orders WHERE slot = $slot")->fetchColumn();

$job = static function (int $n, string $token) use ($slot): array {
    $seconds = random_int(0, 9) < 3 ? random_int(500_000, 3_000_000) / 1e6 : 0;
    $now = microtime(true);
    $delay = $seconds;
    if ($seconds > 0 && random_int(0, 2) === 0) {
        $delay = DateTimeImmutable::createFromFormat('U.u', sprintf('%.6F', $now + $seconds));
    }

    return ['earliest' => (int) (($now + $seconds) * 1e6), 'job' => [
        'payload' => ['slot' => (int) $slot, 'n' => $n, 'token' => $token],
        'delay' => $delay,
        'id' => random_int(0, 1) === 0 ? "order-$slot-$n" : null,
        'priority' => [null, 5, 1024, 2000][random_int(0, 3)],
    ]];
};

$cancel = static function () use ($pdo, $outbox, $slot): void {
    $jobs = $pdo->query("SELECT job FROM regrets WHERE slot = $slot")->fetchAll(PDO::FETCH_COLUMN);
    $pdo->exec("DELETE FROM regrets WHERE slot = $slot");
    $outbox->cancel(ShopSettings::QUEUE, ...$jobs);
};

for ($n = $last(); $n < $orders;) {
    // Time to be killed in.
    usleep(random_int(0, 100_000));
    $token = bin2hex(random_bytes(6));
    try {
        $pdo->beginTransaction();
        $jobs = [];
        for ($rows = min(random_int(1, (int) $most), $orders - $n); $rows > 0; $rows--) {
            ['earliest' => $earliest, 'job' => $jobs[]] = $job($n + count($jobs) + 1, $token);
            $insert->execute([$slot, $n + count($jobs), $token, $earliest]);
        }
        if (random_int(0, 1) === 0) {
            $outbox->pushMany(ShopSettings::QUEUE, $jobs);
        } else {
            foreach ($jobs as $one) {
                $outbox->push(ShopSettings::QUEUE, $one);
            }
        }
        $cancel();
        if ($settings->regrets && random_int(0, 2) === 0) {
            $pdo->exec("INSERT INTO regrets (slot, job) VALUES ($slot, 'regret-$token')");
            $outbox->push(ShopSettings::QUEUE, new NewJob(null, '1h', "regret-$token"));
        }
        if (random_int(0, 9) === 0) {
            $pdo->rollBack();
            $outbox->discard();
            continue;
        }
        $pdo->commit();
        $n += count($jobs);
        $flush === '1' ? $outbox->flush() : $outbox->discard();
    } catch (PDOException $error) {
        fwrite(STDERR, "{$error->getMessage()}\n");
        $pdo->inTransaction() && $pdo->rollBack();
        $outbox->discard();
        usleep(5_000);
        // A killed process of this slot may have committed meanwhile.
        $n = $last();
    }
}
for ($isDone = false; !$isDone;) {
    try {
        $outbox->transaction($cancel);
        $isDone = true;
    } catch (PDOException $error) {
        fwrite(STDERR, "{$error->getMessage()}\n");
        usleep(5_000);
    }
}
