<?php

/** Loads the helpers of these tests, DelayQueue\Tests\Support\ in this folder, and the PHP package. */

declare(strict_types=1);

require dirname(__DIR__, 3) . '/php/autoload.php';

spl_autoload_register(static function (string $class): void {
    $prefix = 'DelayQueue\\Tests\\Support\\';
    if (str_starts_with($class, $prefix)) {
        require __DIR__ . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    }
});

if (!extension_loaded('delayqueue')) {
    fwrite(STDERR, "the delayqueue extension is not loaded: see tests/run-php.sh\n");
    exit(2);
}

DelayQueue\Tests\Support\Machine::watch();
