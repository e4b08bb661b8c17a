<?php

/**
 * Calls every method of the extension thousands of times, right and wrong, on Redis and in memory, and shows what
 * stays allocated.
 *
 *     php -d extension=… tests/leak.php [CALLS [SECONDS [WORD…]]]
 *
 * CALLS is 20000 unless given. A call that takes long is made less often, so that each row takes about SECONDS (0.3;
 * 0: no limit, and some minutes for all). With words, only the calls whose name has one of them.
 * Passes: PHP's heap is as large after as before, and the process has not grown by a mebibyte.
 */

declare(strict_types=1);

use DelayQueue\Tests\Support\EveryCall;
use DelayQueue\Tests\Support\RedisServer;

require __DIR__ . '/phpunit/support/bootstrap.php';

ini_set('delayqueue.testing', '1');
ini_set('memory_limit', '1G');
$most = (int) ($argv[1] ?? 20_000);
$seconds = (float) ($argv[2] ?? 0.3) ?: INF;
$words = array_slice($argv, 3);
$page = 4096;

$redis = new RedisServer();
register_shutdown_function($redis->remove(...));
$every = new EveryCall($redis->dsn());
$calls = $every->all();
foreach ((new EveryCall('memory://leaks'))->all() as $name => $call) {
    $calls["$name, in memory"] = $call;
}
$resident = static fn (): int => (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * $page;

printf("%-72s %7s %10s %12s %8s\n", 'call', 'calls', 'heap (B)', 'process (B)', 'µs/call');
$passed = $failed = 0;
foreach ($calls as $name => $call) {
    if ($words !== [] && array_filter($words, static fn (string $word) => str_contains($name, $word)) === []) {
        continue;
    }
    // Until caches, pools and the allocator have what they want.
    $warm = max(20, $most / 20);
    $started = hrtime(true);
    $elapsed = 0.0;
    for ($n = 0; $n < $warm && ($n < 20 || $elapsed < $seconds / 5); $n++) {
        $call();
        $elapsed = (hrtime(true) - $started) / 1e9;
    }
    $count = (int) min($most, max(100, $seconds / ($elapsed / $n)));
    gc_collect_cycles();
    $process = $resident();
    $heap = memory_get_usage();
    $started = hrtime(true);
    for ($n = 0; $n < $count; $n++) {
        $call();
    }
    $elapsed = (hrtime(true) - $started) / 1e9;
    gc_collect_cycles();
    $heap = memory_get_usage() - $heap;
    $process = $resident() - $process;
    $good = $heap <= 0 && $process < 1 << 20;
    $good ? $passed++ : $failed++;
    printf("%-72s %7d %10d %12d %8.1f%s\n", $name, $count, $heap, $process, $elapsed / $count * 1e6, $good ? '' : '  GROWS');
}
if ($words === []) {
    foreach ($every->missing() as $method) {
        $failed++;
        echo "$method: no call of it here: add one to tests/phpunit/support/EveryCall.php\n";
    }
}
echo "leaks: $passed passed, $failed failed\n";
exit($failed === 0 && $passed > 0 ? 0 : 1);
