--TEST--
exit() and fatal errors inside callbacks leave with PHP's own exit code, and nothing half done
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$name = basename(__FILE__, '.php');
function run(string $code): void
{
    global $name;
    $setup = 'function queue() { return new DelayQueue("' . $name . '", getenv("DELAYQUEUE_TEST_DSN")); } register_shutdown_function(fn() => print("shutdown "));'
        . 'class Boom implements JsonSerializable { function jsonSerialize(): mixed { trigger_error("fatal", E_USER_ERROR); } }'
        . 'class Text { function __toString(): string { trigger_error("fatal", E_USER_ERROR); } }';
    [$output, $exit] = run_code($setup . $code);
    $output = preg_replace('/\{closure:.*?\}/', '{closure}', $output); // since PHP 8.4 closures have places in their names
    echo preg_replace('/\s+/', ' ', $output), " => $exit, jobs: ", count(queue()), "\n";
    queue()->purge();
}
run('queue()->pushMany((function () { yield ["payload" => 1]; exit(5); })()); echo "not reached";');
run('queue()->pushMany((function () { yield ["payload" => 1]; trigger_error("fatal", E_USER_ERROR); })()); echo "not reached";');
run('queue()->pushMany((function () { yield ["payload" => 1]; throw new LogicException("thrown"); })()); echo "not reached";');
run('queue()->pushMany((function () { yield ["payload" => 1]; $s = str_repeat("x", 1 << 30); })()); echo "not reached";');
run('queue()->pushMany((function () { foreach (range(1, 700) as $n) yield ["payload" => $n]; exit(6); })());');
run('queue()->pushMany((function () { try { yield ["payload" => 1]; yield "bad"; } finally { echo "finally "; } })());');
run('queue()->pushMany([["payload" => 1], ["payload" => new Boom]]); echo "not reached";');
run('queue()->push(new Boom); echo "not reached";');
run('queue()->push(1, new Text); echo "not reached";');
run('queue()->push(1, id: new Text); echo "not reached";');
run('pcntl_async_signals(true); pcntl_signal(SIGALRM, fn() => trigger_error("fatal", E_USER_ERROR)); pcntl_alarm(1); queue()->reserve(5); echo "not reached";');
run('pcntl_async_signals(true); pcntl_signal(SIGALRM, fn() => exit(9)); pcntl_alarm(1); queue()->reserve(5); echo "not reached";');
run('pcntl_signal(SIGALRM, fn() => exit(9)); pcntl_alarm(1); queue()->reserve(5); echo "not reached";');
?>
--EXPECT--
shutdown => 5, jobs: 0
Fatal error: fatal shutdown => 255, jobs: 0
Fatal error: Uncaught LogicException: thrown Stack trace: #0 [internal function]: {closure}() #1 Command line code(1): DelayQueue->pushMany(Object(Generator)) #2 {main} thrown shutdown => 255, jobs: 0
Fatal error: Allowed memory size shutdown => 255, jobs: 0
shutdown => 6, jobs: 500
Fatal error: Uncaught TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 1 must be of type DelayQueue\NewJob|array, string given Stack trace: #0 Command line code(1): DelayQueue->pushMany(Object(Generator)) #1 {main} thrown finally shutdown => 255, jobs: 0
Fatal error: fatal shutdown => 255, jobs: 0
Fatal error: fatal shutdown => 255, jobs: 0
Fatal error: fatal shutdown => 255, jobs: 0
Fatal error: fatal shutdown => 255, jobs: 0
Fatal error: fatal shutdown => 255, jobs: 0
shutdown => 9, jobs: 0
shutdown => 9, jobs: 0
