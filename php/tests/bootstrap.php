<?php

/** Loads the package, its tests' helpers and, without Composer, Symfony's HttpClient from where Debian keeps it. */

declare(strict_types=1);

use Symfony\Component\HttpClient\HttpClient;

require dirname(__DIR__) . '/autoload.php';

spl_autoload_register(static function (string $class): void {
    $prefix = 'DelayQueue\\Tests\\';
    $file = __DIR__ . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    if (str_starts_with($class, $prefix) && is_file($file)) {
        require $file;
    }
});

if (!class_exists(HttpClient::class)) {
    require '/usr/share/php/Symfony/Component/HttpClient/autoload.php';
}
