<?php

/** Loads the benchmarks' own classes, and from the tests the helpers that start processes and talk to them. */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $folders = [
        'DelayQueue\\Bench\\Peers\\' => __DIR__ . '/peers/',
        'DelayQueue\\Bench\\' => __DIR__ . '/src/',
        'DelayQueue\\Tests\\Support\\' => __DIR__ . '/../tests/phpunit/support/',
    ];
    foreach ($folders as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            require $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';

            return;
        }
    }
});
