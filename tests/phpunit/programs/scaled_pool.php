<?php

/**
 * delayqueue work with --processes=2..5 for the queue of the environment, whose workers end after a second of calm each.
 * Usage: scaled_pool.php HANDLER
 */

declare(strict_types=1);

use DelayQueue\Console\Worker\Notices;
use DelayQueue\Console\Worker\Pool;
use DelayQueue\Console\Worker\Role;
use DelayQueue\Console\Worker\Scale;
use Symfony\Component\Console\Output\ConsoleOutput;

class_exists(ConsoleOutput::class) || require 'Symfony/Component/Console/autoload.php';
require __DIR__ . '/../../../php/autoload.php';

$command = [PHP_BINARY, __DIR__ . '/../../../php/bin/delayqueue', 'work', $argv[1], '--processes=2..5', '--scale-target=300ms'];
exit((new Pool($command, 2, false, new Notices(new ConsoleOutput(), false), [Role::Gauge], new Scale(2, 5, 0.3, calm: 1.0)))->run());
