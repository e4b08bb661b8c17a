<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Docs;

use FilesystemIterator;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;

/** A folder as of a project that has the package, Symfony's components and PHPUnit in vendor/, and its own classes App\ in src/. */
final class Project
{
    private const AUTOLOAD = <<<'PHP'
        <?php
        require_once '%s/php/autoload.php';
        require_once 'Symfony/Component/Console/autoload.php';
        require_once 'Symfony/Component/HttpClient/autoload.php';
        spl_autoload_register(static function (string $class): void {
            $file = dirname(__DIR__) . '/src/' . strtr(substr($class, strlen('App\\')), '\\', '/') . '.php';
            if (str_starts_with($class, 'App\\') && is_file($file)) {
                require $file;
            }
        });
        PHP;

    /** @param string $fixtures the name of a folder of tests/docs/fixtures/, whose files are copied if it is there */
    public static function make(string $folder, string $fixtures): void
    {
        $root = dirname(__DIR__, 3);
        foreach (['bin', 'vendor/bin'] as $path) {
            mkdir("$folder/$path", 0o700, true);
        }
        $phpunit = trim((string) shell_exec('command -v ' . (getenv('PHPUNIT') ?: 'phpunit')));
        $php = PHP_BINARY . ' -d display_errors=stderr -d log_errors=0 -d error_reporting=-1';
        $programs = [
            'bin/php' => $php,
            'bin/delayqueue' => "$php $root/php/bin/delayqueue",
            'vendor/bin/delayqueue' => "$php $root/php/bin/delayqueue",
            'vendor/bin/phpunit' => "$php $phpunit",
        ];
        foreach ($programs as $path => $command) {
            file_put_contents("$folder/$path", "#!/bin/sh\nexec $command \"\$@\"\n");
            chmod("$folder/$path", 0o700);
        }
        file_put_contents("$folder/vendor/autoload.php", sprintf(self::AUTOLOAD, $root));
        self::copy(dirname(__DIR__) . "/fixtures/$fixtures", $folder);
    }

    /** Readable to their user alone, as files of keys have to be. */
    private static function copy(string $from, string $to): void
    {
        if (!is_dir($from)) {
            return;
        }
        foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($from, FilesystemIterator::SKIP_DOTS)) as $file) {
            $target = $to . substr($file->getPathname(), strlen($from));
            is_dir(dirname($target)) || mkdir(dirname($target), 0o700, true);
            copy($file->getPathname(), $target);
            chmod($target, 0o600);
        }
    }
}
