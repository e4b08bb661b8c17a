<?php

/** Only the case that the load of the machine does not touch: the instructions per job. Options as in run.php. */

declare(strict_types=1);

$argv = [__DIR__ . '/run.php', '--cases=instructions', '--out=instructions', ...array_slice($argv, 1)];

require __DIR__ . '/run.php';
