<?php

/**
 * Holds a mixed load while one fault after another hits its servers and processes, and ends with an account. Exit code 1 when a job is lost.
 *
 *     soak.php sentinel|cluster [--minutes=15] [--pause=3000]
 *
 * --pause is the time between two pushes of one of the two producers, in microseconds.
 */

declare(strict_types=1);

use DelayQueue\Tests\Faults\Support\Soak;
use PHPUnit\Framework\ExpectationFailedException;

require __DIR__ . '/support/bootstrap.php';
require_once 'PHPUnit/Autoload.php';

ini_set('memory_limit', '-1');
[$kind, $minutes, $pause] = ['sentinel', 15.0, 3000];
foreach (array_slice($argv, 1) as $argument) {
    match (true) {
        in_array($argument, ['sentinel', 'cluster'], true) => $kind = $argument,
        (bool) preg_match('/^--minutes=(\d+(?:\.\d+)?)$/', $argument, $found) => $minutes = (float) $found[1],
        (bool) preg_match('/^--pause=(\d+)$/', $argument, $found) => $pause = (int) $found[1],
        default => exit("usage: ./build.sh soak [sentinel|cluster] [--minutes=15] [--pause=3000]\n"),
    };
}
// Ends through the destructors, so that no server stays behind.
pcntl_async_signals(true);
foreach ([SIGINT, SIGTERM] as $signal) {
    pcntl_signal($signal, static fn () => exit(130));
}

$soak = new Soak($kind, $pause);
try {
    $account = $soak->run($minutes * 60);
    echo "$soak\n$account\n";
    $account->assertWhole();
    echo "lost 0: nothing is missing, invented, early or left\n";
} catch (ExpectationFailedException $e) {
    fwrite(STDERR, $e->getMessage() . "\n" . $e->getComparisonFailure()?->getDiff() . "\n");
    $soak->keepLogs();
    exit(1);
} finally {
    $soak->remove();
}
