<?php

/** Loads the package and Symfony, as Composer has installed it or from Debian's packages: those on the include path. */

declare(strict_types=1);

(static function (): void {
    $package = dirname(__DIR__, 2) . '/php';
    require_once "$package/autoload.php";
    spl_autoload_register(static function (string $class): void {
        foreach (['DelayQueue\\Tests\\Symfony\\App\\' => 'app', 'DelayQueue\\Tests\\Symfony\\' => 'support'] as $prefix => $folder) {
            $file = __DIR__ . "/$folder/" . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            if (str_starts_with($class, $prefix) && is_file($file)) {
                require $file;

                return;
            }
        }
    });
    if (is_file("$package/vendor/autoload.php")) {
        require_once "$package/vendor/autoload.php";

        return;
    }
    $components = [
        'Bundle/FrameworkBundle', 'Bundle/SecurityBundle', 'Component/Messenger', 'Component/Lock',
        'Component/Messenger/Bridge/Redis', 'Component/Console', 'Component/Yaml', 'Component/Process',
        'Component/Scheduler',
    ];
    foreach ([...$components, '../Doctrine/DBAL', '../Doctrine/ORM'] as $component) {
        $file = stream_resolve_include_path("Symfony/$component/autoload.php");
        if ($file !== false) {
            require_once $file;
        }
    }
    if (!class_exists('Composer\\InstalledVersions')) {
        class_alias('DelayQueue\\Tests\\Symfony\\ComposerFacts', 'Composer\\InstalledVersions');
    }
})();
