<?php

/** Every page of `delayqueue dashboard`, run by PHP's web server for each request. */

declare(strict_types=1);

use DelayQueue\Console\Dashboard\Door;
use DelayQueue\Console\Database\Database;
use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Html;
use DelayQueue\Dashboard\Request;
use DelayQueue\Database\Journal;

require __DIR__ . '/../../autoload.php';

(static function (): void {
    $settings = json_decode((string) getenv('DELAYQUEUE_DASHBOARD'), true, flags: JSON_THROW_ON_ERROR);
    $door = Door::from($settings['door']);
    $user = $_SERVER['PHP_AUTH_USER'] ?? null;
    $request = Request::fromGlobals("/$door->token", $user);
    $token = explode('/', (string) parse_url('http://host' . $_SERVER['REQUEST_URI'], PHP_URL_PATH))[1] ?? '';
    $refusal = $door->refusal($request, $token, $user, $_SERVER['PHP_AUTH_PW'] ?? null);
    if ($refusal !== null) {
        $refusal->send();

        return;
    }
    $handler = new Handler(
        new DelayQueue('default', $settings['dsn'], $settings['options']),
        static fn (): Access => $settings['readOnly'] ? Access::Read : Access::Write,
        journal: $settings['journal'] === null ? null : new Journal((new Database($settings['journal']))->connection()),
        changed: static function (string $words) use ($user): void {
            $line = Html::text(($user === null ? '' : "$user: ") . $words, 1000);
            @file_put_contents('php://stderr', 'delayqueue: ' . strtr($line, "\n", ' ') . "\n");
        },
    );
    $handler->handle($request)->send();
})();
