<?php

/** The pages of `delayqueue metrics`, run by PHP's web server for each request. It needs no autoloader. */

declare(strict_types=1);

use DelayQueue\Console\QueueChoice;
use DelayQueue\Console\TaskMetrics;
use DelayQueue\Console\WholeQueue;
use DelayQueue\Internal\Json;
use DelayQueue\Stats;

require __DIR__ . '/../Internal/Json.php';
require __DIR__ . '/QueueChoice.php';
require __DIR__ . '/TaskMetrics.php';
require __DIR__ . '/WholeQueue.php';

(static function (): void {
    header('Content-Type: text/plain; charset=utf-8');
    $page = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    if ($page === '/') {
        echo "/metrics  the numbers of the queues, for Prometheus\n/healthz  200 while this server runs\n/readyz   200 while Redis answers, else 503\n";

        return;
    }
    if ($page === '/healthz') {
        echo "ok\n";

        return;
    }
    if ($page !== '/metrics' && $page !== '/readyz') {
        http_response_code(404);
        echo "There is no such page. The metrics are at /metrics.\n";

        return;
    }
    ['queues' => $words, 'limit' => $limit, 'dsn' => $dsn, 'options' => $options] = json_decode((string) getenv('DELAYQUEUE_METRICS'), true, flags: JSON_THROW_ON_ERROR);
    try {
        $anywhere = new DelayQueue('default', $dsn, $options);
        $known = $anywhere->queues(...);
        if ($page === '/readyz') {
            $known();
            echo "ok\n";

            return;
        }
        $stats = [];
        [$names, $leftOut] = (new QueueChoice($words, $limit))->among($known);
        foreach ($names as $name) {
            $stats[] = WholeQueue::open($name, $dsn, $options)->stats();
        }
        $tasks = TaskMetrics::page($anywhere);
        header('Content-Type: text/plain; version=0.0.4; charset=utf-8');
        echo Stats::prometheusPage(...$stats), QueueChoice::metric($leftOut), $tasks;
    } catch (Throwable $error) {
        // error_log() would say nothing: the server is started quiet, or it would log each request.
        @file_put_contents('php://stderr', 'delayqueue: ' . Json::withoutOrders($error->getMessage()) . "\n");
        http_response_code(503);
        echo "The numbers cannot be read; standard error of delayqueue metrics says why.\n";
    }
})();
