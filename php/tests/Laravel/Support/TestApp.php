<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Contracts\Console\Kernel as KernelContract;
use Illuminate\Contracts\Debug\ExceptionHandler as HandlerContract;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Console\Kernel;
use Illuminate\Foundation\Exceptions\Handler;
use Symfony\Component\Console\Input\ArgvInput;
use Symfony\Component\Console\Output\ConsoleOutput;

/** A whole application of Laravel in a temporary folder, with the package as Composer would have installed it. */
final class TestApp
{
    public static function prepare(string $base): void
    {
        foreach (['bootstrap/cache', 'storage/cache', 'storage/views', 'storage/framework', 'vendor/composer'] as $folder) {
            mkdir("$base/$folder", 0o700, true);
        }
        symlink(dirname(__DIR__) . '/app/config', "$base/config");
        touch("$base/database.sqlite");
        file_put_contents("$base/composer.json", '{}');
        $package = json_decode((string) file_get_contents(dirname(__DIR__, 3) . '/composer.json'), true);
        file_put_contents("$base/vendor/composer/installed.json", json_encode(['packages' => [$package + ['version' => '1']]]));
    }

    public static function make(string $base): Application
    {
        $app = new Application($base);
        if (method_exists($app, 'dontMergeFrameworkConfiguration')) {
            // Debian keeps the framework's own configuration where the framework does not look for it.
            $app->dontMergeFrameworkConfiguration();
        }
        $app->singleton(KernelContract::class, Kernel::class);
        $app->singleton(HandlerContract::class, Handler::class);
        $app->make(KernelContract::class)->bootstrap();

        return $app;
    }

    public static function artisan(): int
    {
        $app = self::make((string) getenv('TEST_APP'));

        return $app->make(KernelContract::class)->handle(new ArgvInput(), new ConsoleOutput());
    }
}
