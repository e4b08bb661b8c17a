<?php

/** Loads the helpers of these tests, those of tests/phpunit/, and what makes the pages. */

declare(strict_types=1);

require dirname(__DIR__) . '/phpunit/support/bootstrap.php';
require dirname(__DIR__, 2) . '/docs/tools/autoload.php';

spl_autoload_register(static function (string $class): void {
    $prefix = 'DelayQueue\\Tests\\Docs\\';
    if (str_starts_with($class, $prefix)) {
        require __DIR__ . '/support/' . substr($class, strlen($prefix)) . '.php';
    }
});
