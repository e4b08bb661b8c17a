<?php

/** Runs the benchmarks; see README.md beside this file. Started by ./build.sh bench, which brings what it needs. */

declare(strict_types=1);

use DelayQueue\Bench\Cases;
use DelayQueue\Bench\Interrupted;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Report;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Settings;
use DelayQueue\Bench\Signals;

require __DIR__ . '/autoload.php';

try {
    $settings = Settings::from(array_slice($argv, 1));
} catch (InvalidArgumentException $error) {
    fwrite(STDERR, "bench: {$error->getMessage()}\n");
    exit(2);
}

if ($settings->help) {
    echo "usage: ./build.sh bench [--quick] [--cases=a,b] [--peers=a,b] [--runs=5] [--scale=1] [--out=FILE] [--before=libdelayqueue.so]\n\n";
    echo '  cases: ', implode(', ', Cases::names()), "\n  peers: ", implode(', ', Peers::names()), "\n\n";
    echo "bench/README.md says more.\n";
    exit(0);
}

if ($settings->packages) {
    $packages = array_map(static fn (string $peer) => Peers::traits($peer)->packages, $settings->peers);
    echo implode("\n", array_unique(array_merge(...$packages))), "\n";
    exit(0);
}

Signals::listen();
$session = new Session($settings);
try {
    $report = new Report($settings);
    foreach (array_map(Cases::get(...), $settings->cases) as $case) {
        $table = $case->run($session);
        $report->add($table, ...$case->figures($table));
    }
    $report->finish();
} catch (Interrupted $interrupted) {
    fwrite(STDERR, "bench: {$interrupted->getMessage()}\n");
    $exit = 128 + $interrupted->signal;
} finally {
    $session->end();
}
exit($exit ?? 0);
