<?php

/** Loads the helpers of these tests, DelayQueue\Tests\Database\Support\ in support/, those of tests/phpunit/, and the PHP package. */

declare(strict_types=1);

require_once dirname(__DIR__) . '/phpunit/support/bootstrap.php';
require_once __DIR__ . '/support/autoload.php';
DelayQueue\Tests\Database\Support\Patience::begin();
