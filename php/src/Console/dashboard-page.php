<?php

/** Every page of `delayqueue dashboard`, run by PHP's web server for each request. */

declare(strict_types=1);

use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\Dashboard\Response;

require __DIR__ . '/../../autoload.php';

(static function (): void {
    $settings = json_decode((string) getenv('DELAYQUEUE_DASHBOARD'), true, flags: JSON_THROW_ON_ERROR);
    ['token' => $token, 'dsn' => $dsn, 'options' => $options, 'readOnly' => $readOnly] = $settings;
    $path = (string) parse_url('http://host' . $_SERVER['REQUEST_URI'], PHP_URL_PATH);
    if (!hash_equals($token, explode('/', $path)[1] ?? '')) {
        Response::text(403, 'Open the address that delayqueue dashboard has printed.')->send();

        return;
    }
    $access = static fn (): Access => $readOnly ? Access::Read : Access::Write;
    (new Handler(new DelayQueue('default', $dsn, $options), $access))->handle(Request::fromGlobals("/$token"))->send();
})();
