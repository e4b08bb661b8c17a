<?php

/**
 * Loads the package's classes (PSR-4, DelayQueue\ in src/) where Composer is not used: require it once.
 */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    // dragonmantank/cron-expression as Debian has it.
    if ($class === 'Cron\\CronExpression' && stream_resolve_include_path('Cron/autoload.php') !== false) {
        require_once 'Cron/autoload.php';
        class_exists($class);

        return;
    }
    $prefix = 'DelayQueue\\';
    if (!str_starts_with($class, $prefix)) {
        return;
    }
    $file = __DIR__ . '/src/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    if (is_file($file)) {
        require $file;
    }
});
