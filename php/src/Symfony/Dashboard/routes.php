<?php

declare(strict_types=1);

use DelayQueue\Symfony\Dashboard\DashboardController;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

return static function (RoutingConfigurator $routes): void {
    $routes->add('delayqueue_dashboard', '/_delayqueue/{path}')
        ->controller(DashboardController::class)
        ->requirements(['path' => '.*'])
        ->defaults(['path' => ''])
        ->methods(['GET', 'POST']);
};
