<?php

/**
 * The dashboard as one file of an application, as public/delayqueue.php. People log in to the application, and its session says what they may do.
 * nginx.conf beside it shows how requests come here.
 */

declare(strict_types=1);

use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;

// In a project the autoloader of Composer has the classes; in a checkout they are beside the examples.
$composer = __DIR__ . '/../vendor/autoload.php';
require is_file($composer) ? $composer : __DIR__ . '/../../autoload.php';

// Pages refresh every two seconds. They only read the session, and must not make the person's other requests wait for it.
session_start(['read_and_close' => true]);

$dashboard = new Handler(
    new DelayQueue('default'),
    access: static fn (): Access => match ($_SESSION['role'] ?? null) {
        'admin' => Access::Write,
        'support' => Access::Read,
        default => Access::None,
    },
    changed: static fn (string $words, Request $request) => error_log("$request->user has $words"),
);
$dashboard->handle(Request::fromGlobals('/delayqueue', $_SESSION['user'] ?? null))->send();
