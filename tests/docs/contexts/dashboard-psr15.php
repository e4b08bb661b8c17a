<?php

/** A handler, a factory and a request of PSR-7. */

use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use Nyholm\Psr7\Factory\Psr17Factory;
use Nyholm\Psr7\ServerRequest;

require 'vendor/autoload.php';
require dirname(getenv('CONTEXTS'), 3) . '/php/tests/Dashboard/standins/RequestHandlerInterface.php';
require '/usr/share/php/Nyholm/Psr7/autoload.php';

$dashboard = new Handler(new DelayQueue('default'), static fn (): Access => Access::Read);
$factory = new Psr17Factory();
$request = new ServerRequest('GET', '/delayqueue/workers');

// The sample.

if ($response->getStatusCode() !== 200) {
    exit(1);
}
