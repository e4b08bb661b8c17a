<?php

/**
 * Loads the package, the helpers of its tests, and Laravel: that of the environment's LARAVEL_AUTOLOAD, of Composer, or of Debian.
 */

declare(strict_types=1);

// Laravel 8 has signatures that PHP 8.2 finds old.
error_reporting(E_ALL & ~E_DEPRECATED);

require dirname(__DIR__, 2) . '/autoload.php';
require dirname(__DIR__, 3) . '/tests/database/support/autoload.php';

spl_autoload_register(static function (string $class): void {
    $folders = [
        'DelayQueue\\Tests\\Support\\' => dirname(__DIR__, 3) . '/tests/phpunit/support/',
        'DelayQueue\\Tests\\Faults\\Support\\' => dirname(__DIR__, 3) . '/tests/faults/support/',
        'DelayQueue\\Tests\\' => dirname(__DIR__) . '/',
    ];
    foreach ($folders as $prefix => $folder) {
        $file = $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;

            return;
        }
    }
});

$composer = dirname(__DIR__, 2) . '/vendor/autoload.php';
require getenv('LARAVEL_AUTOLOAD') ?: (is_file($composer) ? $composer : '/usr/share/php/Illuminate/autoload.php');

DelayQueue\Tests\Support\Machine::watch();
DelayQueue\Tests\Database\Support\Patience::begin();
