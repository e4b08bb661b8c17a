<?php

/** Loads the benchmarks' own classes, the PHP package, and from the tests the helpers that start processes, servers and databases. */

declare(strict_types=1);

require __DIR__ . '/../php/autoload.php';
spl_autoload_register(static function (string $class): void {
    $folders = [
        'DelayQueue\\Bench\\Peers\\' => __DIR__ . '/peers/',
        'DelayQueue\\Bench\\' => __DIR__ . '/src/',
        'DelayQueue\\Tests\\Database\\Support\\' => __DIR__ . '/../tests/database/support/',
        'DelayQueue\\Tests\\Support\\' => __DIR__ . '/../tests/phpunit/support/',
    ];
    foreach ($folders as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            require $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';

            return;
        }
    }
});
