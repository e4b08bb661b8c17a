<?php

declare(strict_types=1);

require __DIR__ . '/load.php';
require_once dirname(__DIR__) . '/database/support/autoload.php';

spl_autoload_register(static function (string $class): void {
    foreach (['DelayQueue\\Tests\\Support\\' => 'phpunit', 'DelayQueue\\Tests\\Faults\\Support\\' => 'faults'] as $prefix => $folder) {
        $file = dirname(__DIR__) . "/$folder/support/" . substr($class, strlen($prefix)) . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;

            return;
        }
    }
});

DelayQueue\Tests\Support\Machine::watch();
DelayQueue\Tests\Database\Support\Patience::begin();
