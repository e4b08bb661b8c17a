--TEST--
A handler that calls exit() fails its job, and the process does not end with 0; a forked child and a script that has no job in hand do
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$script = tempnam(sys_get_temp_dir(), 'exits');
function exits(string $code): void
{
    global $queue, $script;
    $queue->purge();
    $queue->push(1, id: 'a', maxAttempts: 2);
    $make = '$queue = new DelayQueue(' . var_export($queue->name(), true) . ', ' . var_export(getenv('DELAYQUEUE_TEST_DSN'), true) . ');';
    file_put_contents($script, "<?php $make $code");
    $shared = preg_split('/ /', getenv('DELAYQUEUE_TEST_SHARED'), flags: PREG_SPLIT_NO_EMPTY);
    $command = [PHP_BINARY, '-n', '-d', 'extension=' . getenv('DELAYQUEUE_TEST_EXTENSION'), ...$shared, $script];
    $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
    $output = stream_get_contents($pipes[1]);
    $job = $queue->peek('a');
    echo "exit code ", proc_close($process), "$output: ", $job === null ? 'done' : "{$job->state->value}, $job->lastError", "\n";
}
exits('$queue->consume(fn () => exit);');
exits('$queue->consume(fn () => exit(0));');
exits('$queue->drain(fn () => die(" bye"));');
exits('$queue->consume(fn () => exit(7));');
exits('register_shutdown_function(fn () => exit(8)); $queue->consume(fn () => exit);');
exits('$queue->consume(fn () => null, maxJobs: 1); exit(0);');
exits('$queue->on(DelayQueue\Event::WorkerStopping, fn () => exit(0)); $queue->consume(fn () => null, maxJobs: 1);');
exits('$queue->consume(function () {
    $child = pcntl_fork();
    $child === 0 && exit(0);
    pcntl_waitpid($child, $status);
    echo " (child ", pcntl_wexitstatus($status), ")";
}, maxJobs: 1);');
unlink($script);
$queue->purge();
?>
--EXPECT--
exit code 1: delayed, the handler called exit() with status 0
exit code 1: delayed, the handler called exit() with status 0
exit code 1 bye: delayed, the handler called exit() with status 0
exit code 7: delayed, the handler called exit() with status 7
exit code 8: delayed, the handler called exit() with status 0
exit code 0: done
exit code 0: done
exit code 0 (child 0): done
