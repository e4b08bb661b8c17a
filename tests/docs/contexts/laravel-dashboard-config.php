<?php

/** The file in an application, whose route is where it says. */

require getenv('CONTEXTS') . '/shared/laravel.php';

$config = (static function (): array {
    // The sample.
})();
$app['config']->set('delayqueue', $config);
(new DelayQueue\Laravel\DelayQueueServiceProvider($app))->boot();
if ($app['router']->getRoutes()->getByAction(DelayQueue\Laravel\Dashboard\DashboardController::class) === null
    || array_diff(array_keys($config['dashboard']), array_keys((require dirname(getenv('CONTEXTS'), 3) . '/php/src/Laravel/config.php')['dashboard'])) !== []
    || !str_contains(json_encode(array_map(fn ($route) => $route->uri(), $app['router']->getRoutes()->getRoutes())), 'admin\/queues')) {
    exit(1);
}
