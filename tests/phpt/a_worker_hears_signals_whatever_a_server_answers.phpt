--TEST--
A worker ends on SIGTERM, and an operation in time, though a server floods it with messages or never ends its housekeeping
--FILE--
<?php
require __DIR__ . '/helpers.inc';
require __DIR__ . '/../phpunit/support/Machine.php';
use DelayQueue\Tests\Support\Machine;
Machine::watch();
// Lets everybody log in, says so, then sends the same to everybody without an end, or once to each request.
function serve($listener, string $answer, bool $floods): never
{
    $clients = [];
    $hello = "%3\r\n+server\r\n+redis\r\n+version\r\n+7.0.15\r\n+role\r\n+master\r\n";
    while (true) {
        $read = [$listener, ...$clients];
        $write = $except = null;
        stream_select($read, $write, $except, null);
        foreach ($read as $stream) {
            if ($stream === $listener) {
                $clients[] = stream_socket_accept($listener);
                continue;
            }
            $request = (string) fread($stream, 65536);
            if ($request === '' && feof($stream)) {
                unset($clients[array_search($stream, $clients, true)]);
                continue;
            }
            if (str_contains($request, 'HELLO')) {
                fwrite($stream, $hello);
                continue;
            }
            do {
                $sent = @fwrite($stream, $answer);
            } while ($floods && $sent);
        }
    }
}
$message = ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n";
pcntl_sigprocmask(SIG_BLOCK, [SIGUSR1]);
foreach (['floods' => str_repeat($message, 1000), 'housekeeping' => "*2\r\n$5\r\nAGAIN\r\n$0\r\n\r\n"] as $what => $answer) {
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $dsn = 'redis://' . stream_socket_get_name($listener, false) . '/0';
    $server = pcntl_fork();
    if ($server === 0) {
        serve($listener, $answer, $what === 'floods');
    }
    $worker = pcntl_fork();
    if ($worker === 0) {
        $queue = new DelayQueue('q', $dsn, ['readTimeout' => 0.5]);
        $parent = posix_getppid();
        $queue->on(DelayQueue\Event::WorkerStarting, fn () => posix_kill($parent, SIGUSR1));
        $queue->consume(fn () => true);
        posix_kill(getmypid(), SIGKILL); // shares the output of its parent
    }
    pcntl_sigwaitinfo([SIGUSR1]);
    usleep(500_000);
    posix_kill($worker, SIGTERM);
    $started = microtime(true);
    while (pcntl_waitpid($worker, $status, WNOHANG) === 0 && Machine::lasted($started) < 15) {
        usleep(20_000);
    }
    echo "$what: ", pcntl_wifsignaled($status) && pcntl_wtermsig($status) === SIGKILL ? 'the loop has returned' : 'still there', "\n";
    @posix_kill($worker, SIGKILL);
    $started = microtime(true);
    try {
        (new DelayQueue('q', $dsn, ['readTimeout' => 0.5]))->count();
    } catch (DelayQueue\ConnectionException $e) {
        echo '  ', Machine::lasted($started) < 5 ? 'in time: ' : 'late: ', preg_replace('/(timed out).*/', '$1', $e->getMessage()), "\n";
    }
    posix_kill($server, SIGKILL);
    pcntl_waitpid($server, $status);
    fclose($listener);
}
?>
--EXPECT--
floods: the loop has returned
  in time: looking at queue 'q': timed out
housekeeping: the loop has returned
  in time: looking at queue 'q': timed out
