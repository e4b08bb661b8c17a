<?php

/** Loads the classes of this folder, which need neither the extension nor PHPUnit: other suites and benchmarks use its servers. */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $prefix = 'DelayQueue\\Tests\\Database\\Support\\';
    $file = __DIR__ . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    if (str_starts_with($class, $prefix) && is_file($file)) {
        require $file;
    }
});
