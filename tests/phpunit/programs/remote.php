<?php

/**
 * A DelayQueue that does what it is told, line by line: [method, [argument, …]] in, its outcome out.
 *
 *     remote.php DSN QUEUE OPTIONS-AS-JSON
 */

declare(strict_types=1);

$queue = new DelayQueue($argv[2], $argv[1], json_decode($argv[3], true));
$job = null;
echo "ready\n";

while (($line = fgets(STDIN)) !== false) {
    [$method, $arguments] = json_decode($line, true);
    $started = microtime(true);
    try {
        $result = $job !== null && method_exists($job, $method) ? $job->$method(...$arguments) : $queue->$method(...$arguments);
        if ($result instanceof DelayQueue\Job) {
            $job = $result;
            $result = [
                'id' => $job->id,
                'payload' => $job->payload,
                'attempts' => $job->attempts,
                'token' => $job->token,
                'lastError' => $job->lastError,
            ];
        }
        $outcome = ['result' => $result];
    } catch (Throwable $e) {
        $outcome = ['thrown' => $e::class, 'message' => $e->getMessage(), 'ambiguous' => $e->ambiguous ?? null];
    }
    echo json_encode($outcome + ['seconds' => microtime(true) - $started]), "\n";
}
