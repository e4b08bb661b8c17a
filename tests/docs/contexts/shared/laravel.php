<?php

/** An application of Laravel in a folder of this session, on its Redis, from which the jobs of the sample before are gone. */

declare(strict_types=1);

use DelayQueue\Tests\Laravel\Support\TestApp;

require dirname(__DIR__, 4) . '/php/tests/Laravel/bootstrap.php';

$redis = new Redis();
$redis->connect((string) getenv('SESSION_SOCKET'));
$redis->flushAll();
putenv('DELAYQUEUE_DSN');
putenv('TEST_REDIS_SOCKET=' . getenv('SESSION_SOCKET'));
$base = getcwd() . '/laravel-' . bin2hex(random_bytes(4));
mkdir($base);
TestApp::prepare($base);
$app = TestApp::make($base);
restore_error_handler();
restore_exception_handler();
