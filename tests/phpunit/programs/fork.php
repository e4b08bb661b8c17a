<?php

/**
 * Forks with an open connection; then every process pushes, looks at, reserves and acknowledges jobs of its own, all at
 * the same time. Says what went wrong.
 *
 *     fork.php DSN QUEUE CHILDREN JOBS
 */

declare(strict_types=1);

[, $dsn, $name, $children, $jobs] = $argv;
$queue = new DelayQueue($name, $dsn);
$queue->push('the first');
$queue->reserve()->ack();
echo "connected\n";
fgets(STDIN);

$work = static function (string $who) use ($queue, $jobs): int {
    $wrong = 0;
    for ($n = 0; $n < (int) $jobs; $n++) {
        $id = "$who-$n";
        $payload = [$who, $n, bin2hex(random_bytes(8))];
        $pushed = $queue->push($payload, id: $id);
        $seen = $queue->peek($id);
        $job = $queue->reserveJob($id);
        if ($pushed !== $id || $seen?->payload !== $payload || $job?->payload !== $payload || $job->id !== $id) {
            fwrite(STDERR, "$who read the reply of another to job $n\n");
            $wrong = 1;
        }
        $job->ack();
    }

    return $wrong;
};

$pids = [];
for ($child = 1; $child <= (int) $children; $child++) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        exit($work("child $child"));
    }
    $pids[] = $pid;
}
$wrong = $work('parent');
foreach ($pids as $pid) {
    pcntl_waitpid($pid, $status);
    $wrong |= pcntl_wifexited($status) ? pcntl_wexitstatus($status) : 1;
}
echo "done\n";
fgets(STDIN);
exit($wrong);
