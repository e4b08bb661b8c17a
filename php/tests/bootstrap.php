<?php

/** Loads the package, its tests' helpers, and Symfony's HttpClient as Composer or Debian has installed it. */

declare(strict_types=1);

require dirname(__DIR__) . '/autoload.php';

spl_autoload_register(static function (string $class): void {
    $folders = [
        'DelayQueue\\Tests\\Support\\' => dirname(__DIR__, 2) . '/tests/phpunit/support/',
        'DelayQueue\\Tests\\' => __DIR__ . '/',
    ];
    foreach ($folders as $prefix => $folder) {
        $file = $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;

            return;
        }
    }
});

DelayQueue\Tests\Support\Machine::watch();

$composer = dirname(__DIR__) . '/vendor/autoload.php';
require is_file($composer) ? $composer : '/usr/share/php/Symfony/Component/HttpClient/autoload.php';
