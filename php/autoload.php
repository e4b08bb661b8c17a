<?php

/**
 * Loads the package's classes (PSR-4, DelayQueue\ in src/) where Composer is not used: require it once.
 */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $prefix = 'DelayQueue\\';
    if (!str_starts_with($class, $prefix)) {
        return;
    }
    $file = __DIR__ . '/src/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    if (is_file($file)) {
        require $file;
    }
});
