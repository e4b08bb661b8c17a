<?php

/** The application of the tests of the Messenger transport, on the Redis of this session. */

declare(strict_types=1);

require dirname(__DIR__, 4) . '/tests/symfony/load.php';

$dsn = 'delayqueue' . substr((string) getenv('DELAYQUEUE_DSN'), strlen('redis'));
foreach (['MESSENGER_DSN' => $dsn, 'MESSENGER_DSN_2' => $dsn, 'MESSENGER_TRANSPORT_DSN' => $dsn, 'APP_FOLDER' => getcwd(), 'DATABASE_URL' => 'sqlite:///' . getcwd() . '/shop.sqlite'] as $name => $value) {
    $_SERVER[$name] = $_ENV[$name] = $value;
}
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
