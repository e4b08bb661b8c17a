<?php

/** One request of a web page that works off jobs; ?do= says how, ?n= is a number to tell requests apart. */

declare(strict_types=1);

use DelayQueue\Event;
use DelayQueue\Job;

$queue = new DelayQueue('work', $_GET['dsn'], ['readTimeout' => 20]);
$do = $_GET['do'];
if ($do === 'pid') {
    exit('pid ' . getmypid());
}
$queue->push(['do' => $do, 'n' => $_GET['n']], id: "$do-$_GET[n]", ttr: 5, maxAttempts: $do === 'endless' ? 2 : 1);
$queue->push(['do' => 'nothing'], id: "behind-$do-$_GET[n]");
/** Keeps the processor busy: time limits of PHP count processor time. */
$spin = static function (): void {
    while (true) {
    }
};
class Cycle
{
    public ?self $self = null;
    public mixed $more = null;

    public function __destruct()
    {
        usleep(1);
    }
}
class EndlessEnd
{
    public function __destruct()
    {
        while (true) {
        }
    }
}
class ThrowingEnd
{
    public function __destruct()
    {
        throw new LogicException('from a destructor');
    }
}
class ExitingEnd
{
    public function __destruct()
    {
        exit('left');
    }
}

$handler = static function (Job $job, DelayQueue $queue) use ($spin): mixed {
    return match ($job->payload['do']) {
        'plain', 'nothing' => null,
        'throw' => throw new RuntimeException('thrown'),
        'exit' => exit('left'),
        'fatal' => trigger_error('broken', E_USER_ERROR),
        'memory' => str_repeat('x', 1 << 30),
        'time limit' => [set_time_limit(1), $spin()],
        'handler timeout' => $spin(),
        'listeners' => null,
        'listener exits' => null,
        'listener throws' => null,
        'cycles' => (static function () use ($job, $queue): void {
            for ($n = 0; $n < 300; $n++) {
                $cycle = new Cycle();
                $cycle->self = $cycle;
                $cycle->more = [$job, $queue, static fn () => $cycle];
            }
        })(),
        'nested' => $queue->drain(static fn () => null, 1),
        'endless' => $spin(),
        'fiber' => (new Fiber(static fn () => Fiber::suspend(1)))->start(),
        'wait', 'long', 'suspended', 'anywhere' => null,
        'endless destructor' => [set_time_limit(1), new EndlessEnd()],
        'destructor throws' => new ThrowingEnd(),
        'destructor exits' => new ExitingEnd(),
    };
};
if (in_array($do, ['listeners', 'cycles', 'time limit', 'memory', 'exit'], true)) {
    foreach (Event::cases() as $event) {
        $queue->on($event, static fn () => [$queue, $handler]);
    }
}
if ($do === 'listener exits') {
    $queue->on(Event::Succeeded, static fn () => exit('left'));
}
if ($do === 'listener throws') {
    $queue->on(Event::Succeeded, static fn () => throw new LogicException('from a listener'));
}
$limits = $do === 'handler timeout' ? ['timeout' => '50ms'] : [];
if ($do === 'anywhere') {
    // Strikes anywhere: in PHP, in consume(), in a listener, in a destructor.
    set_time_limit(1);
    for ($used = 0.0, $start = getrusage(); $used < 0.9;) {
        $now = getrusage();
        $used = $now['ru_utime.tv_sec'] - $start['ru_utime.tv_sec'] + ($now['ru_utime.tv_usec'] - $start['ru_utime.tv_usec']) / 1e6;
    }
    for ($n = 0;; $n++) {
        $queue->pushMany(array_fill(0, 5, ['payload' => ['do' => 'plain']]));
        $queue->on(Event::Processing, static fn () => [$queue, new Cycle()]);
        if ($n % 20 === 0) {
            $queue = new DelayQueue('work', $_GET['dsn'], ['readTimeout' => 20]);
        }
        $queue->consume($handler, stopWhenEmpty: true, prefetch: 1 + $n % 3, timeout: $n % 2 ? '50ms' : 0);
    }
}
if ($do === 'wait') {
    $reason = $queue->consume($handler, maxTime: '100ms', idleTimeout: 0.05);
} elseif ($do === 'long') {
    $reason = $queue->consume($handler, maxTime: 60, idleTimeout: 60);
} elseif ($do === 'suspended') {
    $GLOBALS['kept'] = new Fiber(static fn () => $queue->consume(static fn () => Fiber::suspend(), maxJobs: 1));
    $GLOBALS['kept']->start();
    $reason = null;
} else {
    $reason = $queue->consume($handler, ...$limits, stopWhenEmpty: true, prefetch: 2);
}
echo 'stopped ', $reason?->name;
