--TEST--
Stats, lateness and the Prometheus page
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->pushMany([['payload' => 1], ['payload' => 2], ['payload' => 3, 'delay' => '1h'], ['payload' => 4, 'id' => 'c']]);
$queue->reserve()->ack();
$queue->reserve()->bury('why');
$queue->cancel('c');
$stats = $queue->stats();
var_dump($stats->oldestReadyAge, abs($stats->nextDueAt - microtime(true) - 3600) < 2, array_keys($stats->lateness()), $stats->lateness()['count']);
echo preg_replace(['/(next_due_timestamp_seconds{.*}) .*/', '/(quantile="[0-9.]+"}) .*/'], '$1 *', $stats->toPrometheus());
echo preg_replace('/(nextDueAt\]) => .*/', '$1 => *', print_r($stats, true));
$queue->push(5);
var_dump($queue->stats()->oldestReadyAge >= 0);
$queue->purge();
?>
--EXPECT--
NULL
bool(true)
array(4) {
  [0]=>
  string(3) "p50"
  [1]=>
  string(3) "p95"
  [2]=>
  string(3) "p99"
  [3]=>
  string(5) "count"
}
int(2)
# HELP delayqueue_jobs Jobs by state.
# TYPE delayqueue_jobs gauge
delayqueue_jobs{queue="statistics_count_everything_and_print_for_prometheus",state="delayed"} 1
delayqueue_jobs{queue="statistics_count_everything_and_print_for_prometheus",state="ready"} 0
delayqueue_jobs{queue="statistics_count_everything_and_print_for_prometheus",state="reserved"} 0
delayqueue_jobs{queue="statistics_count_everything_and_print_for_prometheus",state="buried"} 1
# HELP delayqueue_pushed_total Jobs pushed since the queue was made.
# TYPE delayqueue_pushed_total counter
delayqueue_pushed_total{queue="statistics_count_everything_and_print_for_prometheus"} 4
# HELP delayqueue_acked_total Jobs acknowledged since the queue was made.
# TYPE delayqueue_acked_total counter
delayqueue_acked_total{queue="statistics_count_everything_and_print_for_prometheus"} 1
# HELP delayqueue_failed_total Failed attempts since the queue was made.
# TYPE delayqueue_failed_total counter
delayqueue_failed_total{queue="statistics_count_everything_and_print_for_prometheus"} 0
# HELP delayqueue_timed_out_total Leases that expired since the queue was made.
# TYPE delayqueue_timed_out_total counter
delayqueue_timed_out_total{queue="statistics_count_everything_and_print_for_prometheus"} 0
# HELP delayqueue_cancelled_total Jobs cancelled since the queue was made.
# TYPE delayqueue_cancelled_total counter
delayqueue_cancelled_total{queue="statistics_count_everything_and_print_for_prometheus"} 1
# HELP delayqueue_next_due_timestamp_seconds When the next delayed job falls due.
# TYPE delayqueue_next_due_timestamp_seconds gauge
delayqueue_next_due_timestamp_seconds{queue="statistics_count_everything_and_print_for_prometheus"} *
# HELP delayqueue_paused 1 while the queue is paused.
# TYPE delayqueue_paused gauge
delayqueue_paused{queue="statistics_count_everything_and_print_for_prometheus"} 0
# HELP delayqueue_lateness_seconds Time from due to reserved.
# TYPE delayqueue_lateness_seconds summary
delayqueue_lateness_seconds{queue="statistics_count_everything_and_print_for_prometheus",quantile="0.5"} *
delayqueue_lateness_seconds{queue="statistics_count_everything_and_print_for_prometheus",quantile="0.95"} *
delayqueue_lateness_seconds{queue="statistics_count_everything_and_print_for_prometheus",quantile="0.99"} *
delayqueue_lateness_seconds_count{queue="statistics_count_everything_and_print_for_prometheus"} 2
DelayQueue\Stats Object
(
    [delayed] => 1
    [ready] => 0
    [reserved] => 0
    [buried] => 1
    [pushed] => 4
    [acked] => 1
    [failed] => 0
    [timedOut] => 0
    [cancelled] => 1
    [oldestReadyAge] => 
    [nextDueAt] => *
    [paused] => 
)
bool(true)
