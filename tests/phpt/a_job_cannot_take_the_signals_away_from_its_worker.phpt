--TEST--
A job or a listener that sets signal handlers, alarms or masks changes nothing for the worker: it ends by a signal in good order, and lives while it is idle
--SKIPIF--
<?php if (!function_exists('pcntl_signal') || !function_exists('posix_kill')) die('skip needs pcntl and posix'); ?>
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Event;
use DelayQueue\Job;
pcntl_async_signals(true);
$names = [SIGTERM => 'SIGTERM', SIGINT => 'SIGINT', SIGQUIT => 'SIGQUIT', SIGHUP => 'SIGHUP', SIGUSR1 => 'SIGUSR1', SIGPIPE => 'SIGPIPE', SIGALRM => 'SIGALRM'];
$heard = 0;
$hows = ['SIG_DFL' => SIG_DFL, 'SIG_IGN' => SIG_IGN, 'a handler' => function (int $signal) use (&$heard) { $heard++; }];
$wheres = ['handler' => null, 'Processing' => Event::Processing, 'Succeeded' => Event::Succeeded, 'WorkerStarting' => Event::WorkerStarting];
$ignored = fn (int $signal) => (bool) (hexdec(substr(preg_replace('/.*SigIgn:\s*(\w+).*/s', '$1', file_get_contents('/proc/self/status')), -8)) & 1 << $signal - 1);

echo "signals that end the worker\n";
foreach ([SIGTERM, SIGINT, SIGQUIT] as $signal) {
    foreach ($hows as $how => $disposition) {
        foreach ($wheres as $where => $event) {
            $queue = queue();
            [$heard, $before] = [0, $queue->stats()->acked];
            foreach (['take', 'kill', 'behind'] as $deed) {
                $queue->push($deed, id: $deed);
            }
            $take = fn () => pcntl_signal($signal, $disposition);
            $event === null || $queue->on($event, function (Event $event, ?Job $job) use ($take) {
                $job === null || $job->id === 'take' ? $take() : null;
            });
            $stop = $queue->consume(fn (Job $job) => match ($job->id) {
                'take' => $event === null ? $take() : null,
                'kill' => posix_kill(getmypid(), $signal),
            });
            $stays = pcntl_signal_get_handler($signal) === $disposition && $ignored($signal) === ($disposition === SIG_IGN);
            $is = [$stop->name, $queue->stats()->acked - $before, count($queue), $heard, $stays];
            $should = ['Signal', 2, 1, $how === 'a handler' ? 1 : 0, true];
            $is === $should || print("$names[$signal] $how $where: " . json_encode($is) . "\n");
            pcntl_signal($signal, SIG_DFL);
            $queue->purge();
        }
    }
}

echo "a pause that is asked for after a job has taken SIGUSR2, and its end after SIGCONT\n";
$queue = queue();
$queue->push('take');
$queue->push('pause');
$queue->push('last');
$queue->on(Event::WorkerStopping, fn () => print("stopping\n"));
$handler = function (Job $job) use ($queue) {
    echo "$job->payload\n";
    match ($job->payload) {
        'take' => [pcntl_signal(SIGUSR2, SIG_DFL), pcntl_signal(SIGCONT, SIG_IGN)],
        'pause' => [posix_kill(getmypid(), SIGUSR2), posix_kill(getmypid(), SIGCONT)],
        'last' => $queue->stop(),
    };
};
$queue->consume($handler);
pcntl_signal(SIGCONT, SIG_DFL);

echo "signals that the worker does not use\n";
foreach (['a handler' => fn (int $signal) => null, 'SIG_IGN' => SIG_IGN] as $before => $disposition) {
    foreach ([SIGHUP, SIGUSR1, SIGPIPE, SIGALRM] as $signal) {
        pcntl_signal($signal, $disposition);
        $queue = queue();
        $acked = $queue->stats()->acked;
        $queue->push('take');
        $queue->push('kill');
        $queue->drain(fn (Job $job) => $job->payload === 'take' ? pcntl_signal($signal, SIG_DFL) : posix_kill(getmypid(), $signal));
        $queue->stats()->acked - $acked === 2 || print("$names[$signal] after $before\n");
    }
}

echo "alarms\n";
pcntl_signal(SIGALRM, SIG_DFL);
$left = function (callable ...$deeds) {
    $queue = queue();
    foreach ($deeds as $number => $deed) {
        $queue->push($number);
    }
    $queue->drain(fn (Job $job) => [$deeds[$job->payload]()]);
    return pcntl_alarm(0);
};
echo 'of a job: ', $left(fn () => pcntl_alarm(100)), "\n";
echo 'of a job, in the next one: ', $left(fn () => pcntl_alarm(100), function () { echo pcntl_alarm(0), ', '; }), "\n";
pcntl_alarm(200);
$seconds = $left(fn () => pcntl_alarm(100));
echo 'of the program, replaced by a job: ', $seconds > 150 && $seconds <= 200 ? 'as it was' : $seconds, "\n";
pcntl_alarm(200);
$seconds = $left(fn () => pcntl_alarm(0));
echo 'of the program, ended by a job: ', $seconds > 150 && $seconds <= 200 ? 'as it was' : $seconds, "\n";
pcntl_alarm(200);
$seconds = $left(fn () => null);
echo 'of the program: ', $seconds > 150 && $seconds <= 200 ? 'as it was' : $seconds, "\n";
$queue = queue();
$queue->push('x');
$queue->on(Event::WorkerStarting, fn () => pcntl_alarm(300));
$queue->drain(fn () => pcntl_alarm(100));
$seconds = pcntl_alarm(0);
echo 'of a listener of the start: ', $seconds > 250 ? 'as it was' : $seconds, "\n";

echo "blocked signals\n";
pcntl_sigprocmask(SIG_SETMASK, [SIGWINCH]);
$queue = queue();
$queue->push('block');
$queue->push('kill');
$queue->push('behind');
$stop = $queue->consume(fn (Job $job) => $job->payload === 'block' ? pcntl_sigprocmask(SIG_BLOCK, [SIGTERM, SIGUSR2, SIGALRM]) : posix_kill(getmypid(), SIGTERM));
pcntl_sigprocmask(SIG_SETMASK, [], $blocked);
echo $stop->name, ' ', count($queue), ' behind, blocked: ', implode(',', $blocked) === (string) SIGWINCH ? 'as before' : implode(',', $blocked), "\n";

echo "handlers that no longer run at once\n";
$queue = queue();
$queue->push('x');
$queue->drain(fn () => pcntl_async_signals(false));
var_dump(pcntl_async_signals());
?>
--EXPECT--
signals that end the worker
a pause that is asked for after a job has taken SIGUSR2, and its end after SIGCONT
take
pause
last
stopping
signals that the worker does not use
alarms
of a job: 0
of a job, in the next one: 0, 0
of the program, replaced by a job: as it was
of the program, ended by a job: as it was
of the program: as it was
of a listener of the start: as it was
blocked signals
Signal 1 behind, blocked: as before
handlers that no longer run at once
bool(true)
