<?php

/** Does one piece of work with one peer, in a process of its own: a Task as JSON in, one line of JSON out. */

declare(strict_types=1);

use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Task;

require __DIR__ . '/autoload.php';

// Older versions of the peers' libraries use what newer versions of PHP deprecate.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
ini_set('memory_limit', '-1');
ini_set('display_errors', 'stderr');

$task = Task::fromJson($argv[1]);
$work = 'DelayQueue\\Bench\\Work\\' . $task->work;
$result = $work::run(Peers::connect($task->peer, $task->endpoint), $task);
echo json_encode($result, JSON_THROW_ON_ERROR), "\n";
