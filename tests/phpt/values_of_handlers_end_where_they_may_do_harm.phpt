--TEST--
Destructors of what a handler returned or threw run inside the loop: they may throw, exit, or fail for good
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$name = basename(__FILE__, '.php');
function run(string $code): void
{
    global $name;
    $setup = 'function queue() { return new DelayQueue("' . $name . '", getenv("DELAYQUEUE_TEST_DSN")); }'
        . 'class Does { function __construct(private Closure $what) {} function __destruct() { ($this->what)(); } }'
        . 'class Carries extends Exception { public $what; }';
    queue()->push(1, id: 'job', maxAttempts: 1, ttr: '1h');
    [$output, $exit] = run_code($setup . $code);
    $job = queue()->peek('job');
    echo preg_replace('/Stack trace:.*|\s+/s', ' ', $output), " => $exit, ", $job === null ? 'done' : "{$job->state->value}: " . strtok($job->lastError, "\n"), "\n";
    queue()->purge();
}
run('echo queue()->consume(fn() => new Does(fn() => print("destroyed ")), maxJobs: 1)->name;');
run('echo queue()->consume(fn() => new Does(fn() => throw new LogicException("late")), maxJobs: 1)->name;');
run('echo queue()->consume(fn() => new Does(fn() => exit(7)), maxJobs: 1)->name;');
run('echo queue()->consume(fn() => new Does(fn() => trigger_error("fatal", E_USER_ERROR)), maxJobs: 1)->name;');
run('echo queue()->consume(fn() => new Does(fn() => str_repeat("x", 1 << 30)), maxJobs: 1)->name;');
run('echo queue()->consume(function () { $e = new Carries("mine"); $e->what = new Does(fn() => print("destroyed ")); throw $e; }, maxJobs: 1)->name;');
run('echo queue()->consume(function () { $e = new Carries("mine"); $e->what = new Does(fn() => exit(7)); throw $e; }, maxJobs: 1)->name;');
run('echo queue()->on(DelayQueue\Event::Processing, fn() => new Does(fn() => exit(7)))->consume(fn() => 1, maxJobs: 1)->name;');
run('echo queue()->on(DelayQueue\Event::Processing, fn() => exit(7))->consume(fn() => 1, maxJobs: 1)->name;');
?>
--EXPECTF--
destroyed MaxJobs => 0, done
MaxJobs => 0, buried: LogicException: late
 => 7, buried: the handler called exit() with status 7
Fatal error: fatal => 255, buried: fatal
Fatal error: Allowed memory size => 255, buried: Allowed memory size of 16777216 bytes exhausted (tried to allocate %d bytes)
destroyed MaxJobs => 0, buried: Carries: mine
 => 7, buried: Carries: mine
 => 7, buried: the handler called exit() with status 7
 => 7, buried: the handler called exit() with status 7
