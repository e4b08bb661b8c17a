<?php

/** A process of the tests' application that dies when its transaction is committed, before anything else. */

declare(strict_types=1);

require dirname(__DIR__) . '/bootstrap.php';

$app = DelayQueue\Tests\Laravel\Support\TestApp::make((string) getenv('TEST_APP'));
$shop = $app['db']->connection('shop');
$shop->transaction(static function () use ($shop): void {
    $shop->afterCommit(static fn (): bool => posix_kill(posix_getpid(), SIGKILL));
    $shop->insert('insert into orders (name) values (?)', ['tea']);
    DelayQueue\Tests\Laravel\Support\Deed::dispatch('close tea');
});
