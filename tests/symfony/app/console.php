<?php

declare(strict_types=1);

use DelayQueue\Tests\Symfony\App\Kernel;
use Symfony\Bundle\FrameworkBundle\Console\Application;

require dirname(__DIR__) . '/load.php';

(new Application(Kernel::make()))->run();
