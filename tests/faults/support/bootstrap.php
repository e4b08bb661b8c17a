<?php

/** Loads the helpers of these tests, DelayQueue\Tests\Faults\Support\ in this folder, and those of tests/phpunit/ and tests/database/. */

declare(strict_types=1);

require dirname(__DIR__, 2) . '/phpunit/support/bootstrap.php';
require dirname(__DIR__, 2) . '/database/support/autoload.php';

spl_autoload_register(static function (string $class): void {
    $prefix = 'DelayQueue\\Tests\\Faults\\Support\\';
    if (str_starts_with($class, $prefix)) {
        require __DIR__ . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    }
});
