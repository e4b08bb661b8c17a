<?php

/** A rule, and a logger. */

use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;

require 'vendor/autoload.php';
require 'Psr/Log/autoload.php';

$access = static fn (): Access => Access::Read;
$logger = new Psr\Log\NullLogger();

// The sample.
