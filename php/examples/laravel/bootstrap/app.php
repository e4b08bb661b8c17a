<?php

declare(strict_types=1);

use App\Console\Kernel;
use Illuminate\Contracts\Console\Kernel as KernelContract;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Exceptions\Handler;

$app = new Application(dirname(__DIR__));
if (method_exists($app, 'dontMergeFrameworkConfiguration')) {
    // All that this small application needs stands in config/.
    $app->dontMergeFrameworkConfiguration();
}
$app->singleton(KernelContract::class, Kernel::class);
$app->singleton(ExceptionHandler::class, Handler::class);

return $app;
