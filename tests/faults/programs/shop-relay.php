<?php

/**
 * A relay that also forgets receipts twice a second.
 *
 *     shop-relay.php SETTINGS
 */

declare(strict_types=1);

use DelayQueue\Database\Relay;
use DelayQueue\Tests\Faults\Support\ShopSettings;

require dirname(__DIR__) . '/support/bootstrap.php';

$settings = ShopSettings::parse($argv[1]);
$log = fopen("$settings->folder/relays", 'a');
$report = static fn (string $what, Throwable $error) => fwrite($log, "$what: " . strtr($error->getMessage(), "\n", ' ') . "\n");
$relay = new Relay($settings->pdo(...), $settings->queue(...), 200, $settings->after, $report);
$next = 0.0;
$relay->run(static function () use ($relay, $report, &$next): bool {
    if (microtime(true) > $next) {
        $next = microtime(true) + 0.5;
        try {
            $relay->sweep();
        } catch (PDOException $error) {
            $report('no sweep', $error);
        }
    }

    return false;
});
