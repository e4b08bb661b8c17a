<?php

/**
 * Pushes until SIGTERM, and says in the log what became of each push: "try ID" before it, then "ok", "ambiguous" or "refused". A job that
 * it tried to cancel gets a line "cancel ID".
 *
 *     produce.php DSN QUEUE LOG NAME OPTIONS
 *
 * OPTIONS is JSON: 'queue' are options of DelayQueue, 'pause' microseconds between pushes, 'longest' the longest delay in ms, 'mix' whether
 * to use priorities, batches and cancels, too; 'groups' whether most jobs are of groups: of PRODUCER-ordered-N, whose jobs have no delay, and of pair-N.
 */

declare(strict_types=1);

use DelayQueue\Backoff;
use DelayQueue\ConnectionException;
use DelayQueue\ServerException;

[, $dsn, $name, $log, $who, $options] = $argv;
$options = json_decode($options, true) + ['queue' => [], 'pause' => 500, 'longest' => 300, 'mix' => false, 'groups' => false];
$queue = new DelayQueue($name, $dsn, $options['queue'] + ['maxAttempts' => 0, 'ttr' => 3, 'backoff' => Backoff::fixed(0.2)]);
$file = fopen($log, 'a');
$say = static function (string $verb, string ...$ids) use ($file): void {
    fwrite($file, implode('', array_map(static fn (string $id) => "$verb $id\n", $ids)));
};
$ending = false;
pcntl_async_signals(true);
pcntl_signal(SIGTERM, static function () use (&$ending): void {
    $ending = true;
});

$job = static function (int $n) use ($options, $who): array {
    $group = match ($options['groups'] ? $n % 5 : 4) {
        0, 1 => "$who-ordered-" . $n % 3,
        2, 3 => 'pair-' . $n % 4,
        4 => null,
    };
    $delay = random_int(0, 2) || str_contains((string) $group, 'ordered') ? 0 : random_int(0, $options['longest']);

    return [
        'payload' => ['n' => $n, 'notBefore' => microtime(true) + $delay / 1000, 'fail' => $options['mix'] && $n % 50 === 7],
        'delay' => $delay / 1000,
        'id' => "$who-$n",
        'priority' => $options['mix'] && $n % 10 === 3 ? 7 : 1024,
        'group' => $group,
    ];
};
echo "ready\n";
for ($n = 0; !$ending; $n++) {
    $jobs = [$job($n)];
    if ($options['mix'] && $n % 20 === 0) {
        while (count($jobs) < 10) {
            $jobs[] = $job(++$n);
        }
    }
    $ids = array_column($jobs, 'id');
    $say('try', ...$ids);
    try {
        count($jobs) > 1 ? $queue->pushMany($jobs) : $queue->push(...$jobs[0]);
        $say('ok', ...$ids);
        if ($options['mix'] && $n % 40 === 11) {
            $say('cancel', $ids[0]);
            $queue->cancel($ids[0]);
        }
    } catch (ConnectionException | ServerException $e) {
        $say('ok', ...$e->stored);
        $unsure = $e instanceof ConnectionException && $e->ambiguous;
        $say($unsure ? 'ambiguous' : 'refused', ...array_diff($ids, $e->stored));
        $say('error', strtr(substr($e->getMessage(), 0, 300), "\n", ' '));
        usleep(5_000);
    }
    usleep($options['pause']);
}
