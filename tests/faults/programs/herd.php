<?php

/**
 * So many processes wait for one job each. Each says the job that it got.
 *
 *     herd.php DSN QUEUE PROCESSES
 */

declare(strict_types=1);

for ($n = 0; $n < (int) $argv[3]; $n++) {
    if (pcntl_fork() === 0) {
        $queue = new DelayQueue($argv[2], $argv[1], ['readTimeout' => 10]);
        $job = $queue->reserve(60);
        if ($job !== null) {
            $job->ack();
            fwrite(STDOUT, "got $job->id\n");
        }
        posix_kill(getmypid(), SIGKILL);
    }
}
echo "all there\n";
while (pcntl_wait($status) > 0) {
}
