<?php

/**
 * One pass of a search over many jobs: memory of this process, and the slowest call of Redis.
 *
 *     php -d extension=target/release/libdelayqueue.so bench/search.php redis://127.0.0.1:6379/0 1000000
 *
 * Fills the queue "search-bench" of an otherwise idle Redis, and resets its slow log.
 */

declare(strict_types=1);

use DelayQueue\Search\Search;
use DelayQueue\Search\Tags;
use DelayQueue\State;

require __DIR__ . '/../php/autoload.php';

[, $dsn, $jobs] = $argv + [1 => 'redis://127.0.0.1:6379/0', 2 => '1000000'];
$queue = new DelayQueue('search-bench', $dsn);
$queue->purge();
$queue->sibling('search-bench-2')->purge();
$queue->pushMany((static function () use ($jobs): Generator {
    for ($n = 0; $n < $jobs; $n++) {
        yield ['payload' => ['order' => $n], 'delay' => 86400 + $n / 100, 'headers' => $n % 10 === 0 ? Tags::of('tenth') : []];
    }
})());
$url = parse_url($dsn);
$redis = stream_socket_client("tcp://{$url['host']}:{$url['port']}");
$ask = static function (string $command) use ($redis): string {
    fwrite($redis, "$command\r\n");
    usleep(100_000);

    return (string) fread($redis, 1_000_000);
};
$ask('CONFIG SET slowlog-log-slower-than 10000');

$search = Search::in($queue, State::Delayed)->tag('tenth');
$passes = [
    'count' => $search->count(...),
    'reschedule' => static fn (): int => $search->reschedule('2d'),
    'move' => static fn (): int => $search->moveTo($queue->sibling('search-bench-2')),
    'cancel' => Search::in($queue)->cancel(...),
];
foreach ($passes as $name => $pass) {
    $ask('SLOWLOG RESET');
    $ask('CONFIG RESETSTAT');
    memory_reset_peak_usage();
    $before = memory_get_usage();
    $from = hrtime(true);
    $done = $pass();
    $seconds = (hrtime(true) - $from) / 1e9;
    preg_match('/:(\d+)/', $ask('SLOWLOG LEN'), $slow);
    preg_match('/latency_percentiles_usec_evalsha:(\S+)/', $ask('INFO latencystats'), $latency);
    printf(
        "%-10s %7d jobs in %5.1f s, %5.1f MB at most, %d calls above 10 ms of Redis, %s µs\n",
        $name, $done, $seconds, (memory_get_peak_usage() - $before) / 1e6, $slow[1] ?? -1, $latency[1] ?? '',
    );
}
