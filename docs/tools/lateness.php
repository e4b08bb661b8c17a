<?php

/**
 * The picture of lateness: measures it, with the extension, and draws it from what was measured.
 *
 *     php docs/tools/lateness.php measure > docs/images/lateness.csv
 *     php -n docs/tools/lateness.php draw < docs/images/lateness.csv > docs/images/lateness.svg
 *
 * Three workers, each with a queue of its own on a private Redis, get 300 jobs whose due times are spread over half a minute. One consumes; the
 * others look every second, and every three seconds, and take all that is due.
 */

declare(strict_types=1);

use DelayQueue\Docs\LatenessPicture;
use DelayQueue\Job;
use DelayQueue\Testing\RedisServer;

require __DIR__ . '/autoload.php';
require dirname(__DIR__, 2) . '/php/autoload.php';

const WAYS = ['delayqueue' => 0, 'every second' => 1, 'every 3 seconds' => 3];
const JOBS = 300;

/** Prints how late each job was, in milliseconds. */
function work(string $way): void
{
    $queue = new DelayQueue(strtr($way, ' ', '-'));
    $tell = static function (Job $job): void {
        printf("%.3f\n", (microtime(true) - $job->dueAt) * 1000);
    };
    if (WAYS[$way] === 0) {
        $queue->consume($tell, maxJobs: JOBS);

        return;
    }
    for ($left = JOBS; $left > 0; sleep(WAYS[$way])) {
        while ($job = $queue->reserve()) {
            $tell($job);
            $job->ack();
            $left--;
        }
    }
}

function measure(): void
{
    putenv('DELAYQUEUE_DSN=' . RedisServer::shared()->dsn());
    $workers = $outputs = [];
    foreach (array_keys(WAYS) as $way) {
        $queue = new DelayQueue(strtr($way, ' ', '-'));
        for ($number = 0; $number < JOBS; $number++) {
            $queue->push($number, delay: random_int(1000, 31000) . 'ms');
        }
        $workers[$way] = proc_open([PHP_BINARY, __FILE__, 'work', $way], [1 => ['pipe', 'w']], $pipes);
        $outputs[$way] = $pipes[1];
    }
    echo "way,late_ms\n";
    foreach ($outputs as $way => $output) {
        foreach (explode("\n", trim((string) stream_get_contents($output))) as $late) {
            echo "$way,$late\n";
        }
        proc_close($workers[$way]);
    }
}

match ($argv[1] ?? '') {
    'measure' => measure(),
    'work' => work($argv[2]),
    'draw' => print LatenessPicture::draw((string) stream_get_contents(STDIN)),
    default => exit("usage: lateness.php measure|draw\n"),
};
