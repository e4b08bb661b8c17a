--TEST--
A fatal error, an uncaught exception or exit() fails the job in hand at once, and in a handler also the process; the end of a script leaves a job to its lease
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$script = tempnam(sys_get_temp_dir(), 'dies');
/** Runs code of a worker that has $queue, in a PHP of its own, and tells the fate of the jobs a and b, of which the code may take one or both. */
function dies(string $name, string $code): void
{
    global $queue, $script;
    $queue->purge();
    foreach (['a', 'b'] as $id) {
        $queue->push(1, id: $id, ttr: 600);
    }
    $make = '$queue = new DelayQueue(' . var_export($queue->name(), true) . ', ' . var_export(getenv('DELAYQUEUE_TEST_DSN'), true) . ');';
    file_put_contents($script, "<?php $make $code");
    [$output, $exit] = php('-d', 'memory_limit=32M', '-d', 'display_errors=0', '-d', 'log_errors=0', $script);
    echo str_pad($name, 32), "exit code $exit$output";
    foreach (['a', 'b'] as $id) {
        $job = $queue->peek($id);
        $error = preg_replace('~(/\S+|\d{4,})~', '*', strtok((string) $job?->lastError, "\n"));
        echo ' | ', $job === null ? 'gone' : "{$job->state->value} $job->attempts $error";
    }
    echo "\n";
}
dies('exit()', '$job = $queue->reserve(); exit;');
dies('exit(7)', 'while ($job = $queue->reserve()) { exit(7); }');
dies('die() in a function', 'function work($queue) { $job = $queue->reserve(); (function () { die("bye"); })(); } work($queue);');
dies('two in hand', '$jobs = $queue->reserveMany(2); exit;');
dies('uncaught at the top', '$job = $queue->reserve(); throw new RuntimeException("boom");');
dies('uncaught in a function', 'function work($queue, $secret) { $job = $queue->reserveJob("b"); throw new RuntimeException("boom"); } work($queue, "hunter2");');
dies('uncaught, with a cause', '$job = $queue->reserve(); try { throw new LogicException("inner"); } catch (LogicException $e) { throw new RuntimeException("outer", 0, $e); }');
echo preg_replace('~/\S+~', '*', $queue->peek('a')->lastError), "\n";
dies('an exception handler', 'set_exception_handler(fn() => print(" handled")); function work($queue) { $job = $queue->reserve(); throw new RuntimeException("boom"); } work($queue);');
dies('out of memory', '$job = $queue->reserve(); $x = str_repeat("x", 64 << 20);');
dies('a fatal error in a function', 'function work($queue) { $job = $queue->reserve(); eval("interface Two {} class One implements Two, Two {}"); } work($queue);');
dies('in a cycle', '$o = new stdClass; $o->o = $o; $o->job = $queue->reserve(); exit;');
dies('the end of the script', '$job = $queue->reserve();');
dies('a job let go, then exit()', '$job = $queue->reserve(); unset($job); exit;');
dies('an exception that is caught', 'try { (function () use ($queue) { $job = $queue->reserve(); throw new Exception; })(); } catch (Exception) {}');
dies('settled, then exit()', '$job = $queue->reserve(); $job->ack(); $job = $queue->reserve(); $job->bury("mine"); exit(1);');
dies('settled at shutdown', '$job = $queue->reserve(); register_shutdown_function(fn() => $job->release(0, countAttempt: false)); exit;');
dies('exit in consume()', '$queue->consume(fn() => exit);');
dies('exit(0) in consume()', '$queue->consume(fn() => exit(0));');
dies('exit(8) at shutdown', 'register_shutdown_function(fn() => exit(8)); $queue->consume(fn() => exit);');
dies('die() in drain()', '$queue->drain(fn() => die("bye"));');
dies('exit(0) behind consume()', '$queue->consume(fn() => null, maxJobs: 1); exit(0);');
dies('exit(0) in a listener', '$queue->on(DelayQueue\Event::WorkerStopping, fn() => exit(0)); $queue->consume(fn() => null, maxJobs: 1);');
dies('exit(0) in a forked child', '$queue->consume(function () {
    $child = pcntl_fork();
    $child === 0 && exit(0);
    pcntl_waitpid($child, $status);
    echo " (child ", pcntl_wexitstatus($status), ")";
}, maxJobs: 1);');
unlink($script);
$queue->purge();
?>
--EXPECT--
exit()                          exit code 0 | delayed 1 the script called exit() with status 0 | ready 0 
exit(7)                         exit code 7 | delayed 1 the script called exit() with status 7 | ready 0 
die() in a function             exit code 0bye | delayed 1 the script called exit() with status 0 | ready 0 
two in hand                     exit code 0 | delayed 1 the script called exit() with status 0 | delayed 1 the script called exit() with status 0
uncaught at the top             exit code 255 | delayed 1 Uncaught RuntimeException: boom in * | ready 0 
uncaught in a function          exit code 255 | ready 0  | delayed 1 Uncaught RuntimeException: boom in *
uncaught, with a cause          exit code 255 | delayed 1 Uncaught RuntimeException: outer in * | ready 0 
Uncaught RuntimeException: outer in *
caused by LogicException: inner in *
an exception handler            exit code 0 handled | reserved 1  | ready 0 
out of memory                   exit code 255 | delayed 1 Allowed memory size of * bytes exhausted (tried to allocate * bytes) | ready 0 
a fatal error in a function     exit code 255 | delayed 1 Class One cannot implement previously implemented interface Two | ready 0 
in a cycle                      exit code 0 | delayed 1 the script called exit() with status 0 | ready 0 
the end of the script           exit code 0 | reserved 1  | ready 0 
a job let go, then exit()       exit code 0 | reserved 1  | ready 0 
an exception that is caught     exit code 0 | reserved 1  | ready 0 
settled, then exit()            exit code 1 | gone | buried 1 mine
settled at shutdown             exit code 0 | ready 0  | ready 0 
exit in consume()               exit code 1 | delayed 1 the handler called exit() with status 0 | ready 0 
exit(0) in consume()            exit code 1 | delayed 1 the handler called exit() with status 0 | ready 0 
exit(8) at shutdown             exit code 8 | delayed 1 the handler called exit() with status 0 | ready 0 
die() in drain()                exit code 1bye | delayed 1 the handler called exit() with status 0 | ready 0 
exit(0) behind consume()        exit code 0 | gone | ready 0 
exit(0) in a listener           exit code 0 | gone | ready 0 
exit(0) in a forked child       exit code 0 (child 0) | gone | ready 0 
