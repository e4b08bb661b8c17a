--TEST--
shutdownTimeout after a finishing signal a ShutdownException ends the handler; its job goes back uncounted to its old place, unless it was settled or the handler returns
--FILE--
<?php
require __DIR__ . '/helpers.inc';
require __DIR__ . '/../phpunit/support/Machine.php';
use DelayQueue\Tests\Support\Machine;
use DelayQueue\{Event, Job, Release, ShutdownException, State};
Machine::watch();
$queue = queue();
$log = [];
foreach ([Event::Succeeded, Event::Released, Event::Failed, Event::Buried, Event::TimedOut, Event::LeaseLost] as $event) {
    $queue->on($event, function (Event $event, ?Job $job, ?Throwable $error) use (&$log) {
        $log[] = "{$event->name} {$job->id}" . ($error === null ? '' : ' ' . $error::class);
    });
}
$state = function (?array $before) use ($queue): string {
    $job = $queue->peek('a');
    return $job === null ? 'gone' : sprintf(
        '%s, attempts %d, releases %d, %s place, lastError %s',
        $job->state->name, $job->attempts, $job->releases, $before === [$job->dueAt, $job->priority] ? 'old' : 'new', json_encode($job->lastError),
    );
};
$run = function (string $what, callable $handler, mixed ...$options) use ($queue, &$log, $state): void {
    $log = [];
    $queue->purge();
    $queue->push(1, id: 'a', priority: 7, delay: '5ms');
    $queue->push(2, id: 'behind', priority: 8, delay: '5ms');
    $job = $queue->peek('a');
    $before = [$job->dueAt, $job->priority];
    usleep(10_000);
    $stop = $queue->consume(function (Job $job, DelayQueue $queue) use ($handler) {
        posix_kill(getmypid(), SIGTERM);
        return $handler($job, $queue);
    }, ...$options + ['shutdownTimeout' => 0.1, 'graceTimeout' => 60, 'prefetch' => 2]);
    echo "$what: $stop->name; ", implode(', ', $log), "; ", $state($before), '; behind ', json_encode($queue->peek('behind')?->attempts), "\n";
};
$spin = function (float $seconds = 10): void { for ($end = microtime(true) + $seconds; microtime(true) < $end;); };
$caught = function (?callable $then = null) use ($spin): Closure {
    return function (Job $job, DelayQueue $queue) use ($spin, $then) {
        try {
            $spin();
        } catch (ShutdownException $e) {
            return $then === null ? null : $then($job, $e);
        }
    };
};

$began = microtime(true);
$run('PHP', fn() => $spin());
echo Machine::lasted($began) < 5 ? "in time\n" : "late\n";
$run('a system call', fn() => sleep(20));
$pipe = sys_get_temp_dir() . '/delayqueue-' . getmypid();
posix_mkfifo($pipe, 0600);
$run('a call that fails when it is ended', fn() => new SplFileObject($pipe)); // waits for a writer
unlink($pipe);
$run('rethrown', $caught(function (Job $job, Throwable $e) { echo $e->getMessage(), "\n"; throw $e; }));
$run('another exception', $caught(fn() => throw new LogicException('another')), maxJobs: 1);
$run('Release', $caught(fn() => throw new Release('1h', 'because')));
$run('caught', $caught());
$run('false', $caught(fn() => false));
$run('acknowledged', $caught(function (Job $job, Throwable $e) { $job->ack(); throw $e; }));
$run('released by itself', $caught(function (Job $job, Throwable $e) { $job->release('1h'); throw $e; }));
$run('a second signal', fn() => $spin(0.05) ?? posix_kill(getmypid(), SIGINT) && $spin());
$run('ends before it', fn() => null, shutdownTimeout: 10);
$run('no shutdownTimeout', fn() => $spin(0.3), shutdownTimeout: 0);
$run('a timeout after it', $caught(function () use ($spin) { $spin(0.4); throw new LogicException('at last'); }), timeout: 0.3);
$run('a timeout before it', fn() => $spin(), timeout: 0.1, shutdownTimeout: 0.5);
$inner = queue(suffix: '-inner');
$inner->purge();
$inner->push(3, id: 'b');
$log = [];
$queue->purge();
$queue->push(1, id: 'a');
$queue->consume(fn() => $inner->drain(fn() => posix_kill(getmypid(), SIGTERM) && $spin()), shutdownTimeout: 0.1);
echo 'a loop in the handler: ', implode(', ', $log), '; its job has ', $inner->peek('b')->attempts, " attempts\n";
$inner->purge();
$inner->push(3, id: 'b');
$log = [];
$queue->purge();
$queue->push(1, id: 'a');
$queue->consume(function () use ($inner, $spin) {
    $inner->consume(function () use ($spin) {
        posix_kill(getmypid(), SIGTERM);
        try {
            $spin();
        } finally {
            $spin(0.4);
            echo "the inner handler has cleaned up\n";
        }
    }, shutdownTimeout: 0.1, graceTimeout: 60);
    $spin();
}, shutdownTimeout: 0.1, graceTimeout: 60);
echo 'two limits, one within the other: ', implode(', ', $log), '; attempts ', $inner->peek('b')->attempts, $queue->peek('a')->attempts, "\n";

// Nothing can be thrown into a handler whose fiber is suspended. It ends with its fiber.
$queue->purge();
$queue->push(1, id: 'a');
$loop = new Fiber(fn() => $queue->consume(fn() => posix_kill(getmypid(), SIGTERM) && Fiber::suspend(), shutdownTimeout: 0.1, graceTimeout: 60));
$loop->start();
$spin(1);
unset($loop);
echo 'a suspended handler: attempts ', $queue->peek('a')->attempts, "\n";

// The end of the process.
function ends(string $what, callable $end, array $options = []): void
{
    global $queue, $state;
    $queue->purge();
    $queue->push(1, id: 'a');
    $job = $queue->peek('a');
    $child = pcntl_fork();
    if ($child === 0) {
        ini_set('display_errors', '0');
        ini_set('log_errors', '0');
        fclose(STDERR);
        ob_start(fn() => '');
        queue()->consume(function () use ($end) {
            posix_kill(getmypid(), SIGTERM);
            try {
                for ($until = microtime(true) + 10; microtime(true) < $until;);
            } catch (ShutdownException) {
                $end();
            }
        }, ...$options + ['shutdownTimeout' => 0.1, 'graceTimeout' => 0.3]);
        exit(0);
    }
    pcntl_waitpid($child, $status);
    echo "$what: ", pcntl_wexitstatus($status), '; ', $state([$job->dueAt, $job->priority]), "\n";
}
ends('exit', fn() => exit(7));
ends('a fatal error', fn() => eval('function twice() {} function twice() {}'));
ends('stuck', fn() => hash_pbkdf2('sha512', 'password', 'salt', 1_000_000_000));

foreach ([-1, 3_200_000_000, 'soon', INF] as $wrong) {
    caught(fn() => $queue->consume(fn() => null, stopWhenEmpty: true, shutdownTimeout: $wrong));
}
echo get_parent_class(ShutdownException::class), ' ', json_encode((new ReflectionClass(ShutdownException::class))->isFinal()), "\n";
?>
--EXPECT--
PHP: Signal; Released a DelayQueue\ShutdownException; Ready, attempts 0, releases 0, old place, lastError null; behind 0
in time
a system call: Signal; Released a DelayQueue\ShutdownException; Ready, attempts 0, releases 0, old place, lastError null; behind 0
a call that fails when it is ended: Signal; Released a DelayQueue\ShutdownException; Ready, attempts 0, releases 0, old place, lastError null; behind 0
still running 0.1 s after the signal to end
rethrown: Signal; Released a DelayQueue\ShutdownException; Ready, attempts 0, releases 0, old place, lastError null; behind 0
another exception: Signal; Released a LogicException; Ready, attempts 0, releases 0, old place, lastError null; behind 0
Release: Signal; Released a DelayQueue\Release; Ready, attempts 0, releases 0, old place, lastError null; behind 0
caught: Signal; Succeeded a; gone; behind 0
false: Signal; Succeeded a; gone; behind 0
acknowledged: Signal; ; gone; behind 0
released by itself: Signal; ; Delayed, attempts 1, releases 1, new place, lastError null; behind 0
a second signal: Signal; Released a DelayQueue\ShutdownException; Ready, attempts 0, releases 0, old place, lastError null; behind 0
ends before it: Signal; Succeeded a; gone; behind 0
no shutdownTimeout: Signal; Succeeded a; gone; behind 0
a timeout after it: Signal; Released a LogicException; Ready, attempts 0, releases 0, old place, lastError null; behind 0
a timeout before it: Signal; TimedOut a DelayQueue\TimeoutException, Failed a DelayQueue\TimeoutException; Delayed, attempts 1, releases 0, new place, lastError "timed out after 0.1 s"; behind 0
a loop in the handler: Released a DelayQueue\ShutdownException; its job has 0 attempts
the inner handler has cleaned up
two limits, one within the other: Released a DelayQueue\ShutdownException; attempts 00
a suspended handler: attempts 0
exit: 7; Ready, attempts 0, releases 0, old place, lastError null
a fatal error: 255; Ready, attempts 0, releases 0, old place, lastError null
stuck: 124; Ready, attempts 0, releases 0, old place, lastError null
DelayQueue\InvalidArgument: DelayQueue::consume(): Argument #12 ($shutdownTimeout) must be greater than or equal to 0
DelayQueue\InvalidArgument: DelayQueue::consume(): Argument #12 ($shutdownTimeout) must be at most 100 years
DelayQueue\InvalidArgument: DelayQueue::consume(): Argument #12 ($shutdownTimeout) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
DelayQueue\InvalidArgument: DelayQueue::consume(): Argument #12 ($shutdownTimeout) must be finite
RuntimeException true
