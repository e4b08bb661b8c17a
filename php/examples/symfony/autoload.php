<?php

/** Stands for Composer's autoloader where the example is run from this folder, with Debian's Symfony packages or php/vendor/. */

declare(strict_types=1);

require_once dirname(__DIR__, 2) . '/autoload.php';

spl_autoload_register(static function (string $class): void {
    $prefix = 'DelayQueue\\Examples\\Symfony\\';
    if (str_starts_with($class, $prefix)) {
        require __DIR__ . '/src/' . substr($class, strlen($prefix)) . '.php';
    }
});

$composer = dirname(__DIR__, 2) . '/vendor/autoload.php';
if (is_file($composer)) {
    require_once $composer;
} else {
    foreach (['Symfony/Bundle/FrameworkBundle', 'Symfony/Component/Messenger', 'Symfony/Component/Console', 'Symfony/Component/Yaml', 'Doctrine/DBAL'] as $part) {
        require_once "$part/autoload.php";
    }
    if (!class_exists('Composer\\InstalledVersions')) {
        // Symfony asks it which packages are there for development only: none is.
        class_alias(get_class(new class () {
            public static function isInstalled(string $package, bool $orForDevelopment = true): bool
            {
                return false;
            }
        }), 'Composer\\InstalledVersions');
    }
}
