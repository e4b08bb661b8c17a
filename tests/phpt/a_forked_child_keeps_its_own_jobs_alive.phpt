--TEST--
keepAlive() in a process and in a child that it forks: each keeps its own jobs, with a thread of its own
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$threads = fn (): int => count(scandir('/proc/self/task')) - 2;
$look = function (string $who, DelayQueue\Job $job) use ($queue, $threads): void {
    $info = $queue->peek($job->id);
    echo "$who: {$info->state->value}, timeouts {$info->timeouts}, lost ", json_encode($job->isLost()), ", ", $threads(), " threads\n";
};
$queue->push('p', id: 'parent', ttr: 1);
$queue->push('c', id: 'child', ttr: 1);
$job = $queue->reserveJob('parent');
$job->keepAlive();
$child = pcntl_fork();
if ($child === 0) {
    echo $threads(), " thread\n";
    caught(fn () => $job->keepAlive());
    $own = $queue->reserveJob('child');
    $own->keepAlive();
    unset($job);
    usleep(2_200_000);
    $look('child', $own);
    exit(0);
}
pcntl_waitpid($child, $status);
$look('parent', $job);
$job->ack();
echo "$status, ", count($queue), " left\n";
$queue->purge();
?>
--EXPECT--
1 thread
DelayQueue\LeaseLostException: the lease of job 'parent' in queue 'a_forked_child_keeps_its_own_jobs_alive' is lost: it was reserved by the process this one was forked from
child: reserved, timeouts 0, lost false, 2 threads
parent: reserved, timeouts 0, lost false, 2 threads
0, 1 left
