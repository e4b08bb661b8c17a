<?php

/**
 * Loads the package's classes (PSR-4, DelayQueue\ in src/) where Composer is not used: require it once.
 */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    // dragonmantank/cron-expression as Debian has it, which newer versions of PHP complain of while they compile it.
    if ($class === 'Cron\\CronExpression' && stream_resolve_include_path('Cron/autoload.php') !== false) {
        $reported = error_reporting(error_reporting() & ~E_DEPRECATED);
        require_once 'Cron/autoload.php';
        foreach (['Minutes', 'Hours', 'DayOfMonth', 'Month', 'DayOfWeek'] as $field) {
            class_exists("Cron\\{$field}Field");
        }
        class_exists($class);
        class_exists(Cron\FieldFactory::class);
        error_reporting($reported);

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
