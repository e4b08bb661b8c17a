<?php

/**
 * A small shop, for about half a minute. Orders arrive over HTTP and have to be paid within 5 to 15 s; a third of them is.
 * An order and its job are one transaction of the shop's database. Two worker processes of php/bin/delayqueue close the others, and a relay beside
 * them clears the outbox. A schedule asks for a report every five seconds. In the middle one of them is killed with -9 while it holds a
 * job, and their parent starts another.
 * At the end comes an account; the exit code is 0 if every statement in it is true.
 */

declare(strict_types=1);

use DelayQueue\Schedule\CatchUp;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Schedules;
use DelayQueue\State;
use DelayQueue\Testing\RedisServer;

require __DIR__ . '/../php/autoload.php';
require __DIR__ . '/Account.php';
require __DIR__ . '/Child.php';
require __DIR__ . '/Customers.php';

const ORDERS = 48;
const SECONDS_BETWEEN_ORDERS = 1 / 3;
const KILL_AFTER = 10.0;
const PATIENCE = 50.0;

pcntl_async_signals(true);
foreach ([SIGINT, SIGTERM, SIGHUP] as $signal) {
    pcntl_signal($signal, static fn (int $signal) => throw new RuntimeException('stopped by a signal'));
}

$start = microtime(true);
$say = static function (string $text) use ($start): void {
    printf("%5.1f s  %s\n", microtime(true) - $start, $text);
};

$directory = sys_get_temp_dir() . '/delayqueue-demo-' . bin2hex(random_bytes(4));
mkdir($directory, 0o700);
/** @var array<string, Child> $children */
$children = [];

try {
    $redis = RedisServer::shared();
    $wanted = "$directory/wanted";
    $held = "$directory/held";
    putenv("DELAYQUEUE_DSN={$redis->dsn()}");
    putenv("SHOP_DATABASE=$directory/shop.sqlite");
    putenv("DEMO_WANTED=$wanted");
    putenv("DEMO_HELD=$held");
    putenv("DEMO_REPORTS=$directory/reports");
    (new Schedules(new DelayQueue('schedules', $redis->dsn())))->set('report', Every::interval('5s'), queue: 'reports', catchUp: CatchUp::All);

    $page = startPage($children, $directory);
    $workers = $children['workers'] = new Child(
        'workers',
        [__DIR__ . '/../php/bin/delayqueue', 'work', __DIR__ . '/handler.php', '--queue=orders', '--queue=reports', '--processes=2',
            '--relay', '--schedules', "--database=sqlite:$directory/shop.sqlite"],
        "$directory/workers.log",
    );
    $say("the page is at $page; process $workers->pid runs two workers, the relay and the schedules");

    $customers = new Customers($page, ORDERS, SECONDS_BETWEEN_ORDERS);
    $queue = new DelayQueue('orders', $redis->dsn());
    $account = new Account("$directory/shop.sqlite", $queue);
    $heldOrder = $replacement = null;
    $isWanted = false;
    $nextLineAt = $start + 1;

    while (!($customers->isDone() && $account->isSettled()) && microtime(true) < $start + PATIENCE) {
        $customers->act();
        if (!$isWanted && microtime(true) >= $start + KILL_AFTER) {
            $isWanted = touch($wanted);
        }
        if ($heldOrder === null && is_file($held)) {
            [$doomed, $heldOrder] = explode(' ', (string) file_get_contents($held));
            posix_kill((int) $doomed, SIGKILL);
            $state = $queue->peek($heldOrder)?->state;
            $say(">>> killed a worker (kill -9 $doomed) while it held $heldOrder; the job is {$state?->value}");
            if ($state !== State::Reserved) {
                throw new RuntimeException("the job of the killed worker should be reserved");
            }
        }
        if ($heldOrder !== null && $replacement === null && ($replacement = replacementOf($doomed, $workers)) !== null) {
            $say(">>> its parent has started another: process $replacement is ready");
        }
        if (microtime(true) >= $nextLineAt) {
            $nextLineAt++;
            $say($account->line());
            foreach ($children as $child) {
                if (!$child->isRunning()) {
                    throw new RuntimeException("$child->name ended by itself. It printed:\n{$child->output()}");
                }
            }
        }
        usleep(10_000);
    }

    $say($account->line());
    echo "\nThe account:\n";
    $statements = $account->statements(ORDERS, $heldOrder, $replacement) + $account->reports("$directory/reports", 5);
    foreach ($statements as $text => $true) {
        echo match ($true) { true => '  yes  ', false => '  NO   ', null => '       ' }, $text, "\n";
    }
    $failed = count(array_keys($statements, false, true));
    $exit = $failed === 0 ? 0 : 1;
    echo $failed === 0 ? "\nEvery order was paid or closed, each once, none early.\n" : "\n$failed statements are not true.\n";
} catch (RuntimeException | DelayQueue\Exception $error) {
    fwrite(STDERR, "demo: {$error->getMessage()}\n");
    $exit = 1;
} finally {
    foreach (array_reverse($children) as $child) {
        $child->stop();
    }
    array_map(unlink(...), (array) glob("$directory/*"));
    rmdir($directory);
}

exit($exit);

/**
 * Starts the page on a free port and waits until it answers.
 *
 * @param array<string, Child> $children
 *
 * @return string its address
 */
function startPage(array &$children, string $directory): string
{
    $probe = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($probe, false);
    fclose($probe);
    $page = $children['page'] = new Child('page', ['-S', $address, __DIR__ . '/page.php'], "$directory/page.log");
    for ($deadline = microtime(true) + 10; !($socket = @stream_socket_client("tcp://$address")); usleep(20_000)) {
        if (microtime(true) > $deadline || !$page->isRunning()) {
            throw new RuntimeException("the page does not start. It printed:\n{$page->output()}");
        }
    }
    fclose($socket);

    return "http://$address";
}

/** The process that took the place of a killed worker, by what their parent says; null: none is ready yet. */
function replacementOf(string $killed, Child $parent): ?string
{
    $isReplaced = preg_match("/worker (\\d) \\(process $killed\\) was killed.*worker \\1 \\(process (\\d+)\\) is ready/s", $parent->output(), $found);

    return $isReplaced === 1 ? $found[2] : null;
}
