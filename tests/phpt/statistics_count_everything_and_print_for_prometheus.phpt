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
$queue->push(6, expires: '10ms', onExpiry: DelayQueue\OnExpiry::Drop);
usleep(20_000);
var_dump($queue->reserve());
$stats = $queue->stats();
var_dump($stats->oldestReadyAge, abs($stats->nextDueAt - microtime(true) - 3600) < 2, array_keys($stats->lateness()), $stats->lateness()['count']);
var_dump($stats->waitTime()['count'], $stats->runTimes()['acked']['count'], $stats->lateness() === $stats->lateness(sinceStart: true));
$page = $stats->toPrometheus();
// Of each histogram only its ends: 24 buckets and +Inf, which is the count.
echo preg_replace(['/(next_due_timestamp_seconds{.*}) .*/', '/(_seconds_sum{.*}) .*/', '/^.*_bucket{.*le="(?!\+).*\n/m', '/(version=")[^"]*/'], ['$1 *', '$1 *', '', '$1*'], $page);
preg_match_all('/lateness_seconds_bucket{.*le="([^"]+)"} (\d+)/', $page, $buckets);
var_dump(count($buckets[1]), $buckets[1][0], $buckets[1][23], $buckets[2] == (function (array $counts) { sort($counts); return $counts; })($buckets[2]));
echo preg_replace('/(nextDueAt\]) => .*/', '$1 => *', print_r($stats, true));
// A histogram that counts nothing has no buckets, and one that does has all of them.
foreach (['acked' => 25, 'failed' => 0] as $outcome => $buckets) {
    var_dump(preg_match_all("/run_seconds_bucket{.*outcome=\"$outcome\"/", $page) === $buckets);
}
$queue->push(5);
var_dump($queue->stats()->oldestReadyAge >= 0);
$queue->purge();
?>
--EXPECT--
NULL
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
int(2)
int(1)
bool(true)
# HELP delayqueue_build_info 1, with the version of the extension that wrote this page.
# TYPE delayqueue_build_info gauge
delayqueue_build_info{version="*"} 1
# HELP delayqueue_jobs Jobs by state.
# TYPE delayqueue_jobs gauge
delayqueue_jobs{queue="statistics_count_everything_and_print_for_prometheus",state="delayed"} 1
delayqueue_jobs{queue="statistics_count_everything_and_print_for_prometheus",state="ready"} 0
delayqueue_jobs{queue="statistics_count_everything_and_print_for_prometheus",state="reserved"} 0
delayqueue_jobs{queue="statistics_count_everything_and_print_for_prometheus",state="buried"} 1
# HELP delayqueue_jobs_blocked Ready jobs of groups that may not be served now.
# TYPE delayqueue_jobs_blocked gauge
delayqueue_jobs_blocked{queue="statistics_count_everything_and_print_for_prometheus"} 0
# HELP delayqueue_pushed_total Jobs pushed since the queue was made.
# TYPE delayqueue_pushed_total counter
delayqueue_pushed_total{queue="statistics_count_everything_and_print_for_prometheus"} 5
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
# HELP delayqueue_expired_total Jobs that were too late to be run since the queue was made.
# TYPE delayqueue_expired_total counter
delayqueue_expired_total{queue="statistics_count_everything_and_print_for_prometheus"} 1
# HELP delayqueue_next_due_timestamp_seconds When the next delayed job falls due.
# TYPE delayqueue_next_due_timestamp_seconds gauge
delayqueue_next_due_timestamp_seconds{queue="statistics_count_everything_and_print_for_prometheus"} *
# HELP delayqueue_paused 1 while the queue is paused.
# TYPE delayqueue_paused gauge
delayqueue_paused{queue="statistics_count_everything_and_print_for_prometheus"} 0
# HELP delayqueue_workers Workers that serve the queue, by state.
# TYPE delayqueue_workers gauge
delayqueue_workers{queue="statistics_count_everything_and_print_for_prometheus",state="idle"} 0
delayqueue_workers{queue="statistics_count_everything_and_print_for_prometheus",state="working"} 0
delayqueue_workers{queue="statistics_count_everything_and_print_for_prometheus",state="paused"} 0
delayqueue_workers{queue="statistics_count_everything_and_print_for_prometheus",state="stopping"} 0
# HELP delayqueue_lateness_seconds Time from due to reserved, since the queue was made.
# TYPE delayqueue_lateness_seconds histogram
delayqueue_lateness_seconds_bucket{queue="statistics_count_everything_and_print_for_prometheus",le="+Inf"} 2
delayqueue_lateness_seconds_sum{queue="statistics_count_everything_and_print_for_prometheus"} *
delayqueue_lateness_seconds_count{queue="statistics_count_everything_and_print_for_prometheus"} 2
# HELP delayqueue_wait_seconds Time from first due to reserved, since the queue was made.
# TYPE delayqueue_wait_seconds histogram
delayqueue_wait_seconds_bucket{queue="statistics_count_everything_and_print_for_prometheus",le="+Inf"} 2
delayqueue_wait_seconds_sum{queue="statistics_count_everything_and_print_for_prometheus"} *
delayqueue_wait_seconds_count{queue="statistics_count_everything_and_print_for_prometheus"} 2
# HELP delayqueue_run_seconds Run time of handlers by outcome, since the queue was made.
# TYPE delayqueue_run_seconds histogram
delayqueue_run_seconds_bucket{queue="statistics_count_everything_and_print_for_prometheus",outcome="acked",le="+Inf"} 1
delayqueue_run_seconds_sum{queue="statistics_count_everything_and_print_for_prometheus",outcome="acked"} *
delayqueue_run_seconds_count{queue="statistics_count_everything_and_print_for_prometheus",outcome="acked"} 1
delayqueue_run_seconds_sum{queue="statistics_count_everything_and_print_for_prometheus",outcome="failed"} *
delayqueue_run_seconds_count{queue="statistics_count_everything_and_print_for_prometheus",outcome="failed"} 0
delayqueue_run_seconds_sum{queue="statistics_count_everything_and_print_for_prometheus",outcome="released"} *
delayqueue_run_seconds_count{queue="statistics_count_everything_and_print_for_prometheus",outcome="released"} 0
delayqueue_run_seconds_bucket{queue="statistics_count_everything_and_print_for_prometheus",outcome="buried",le="+Inf"} 1
delayqueue_run_seconds_sum{queue="statistics_count_everything_and_print_for_prometheus",outcome="buried"} *
delayqueue_run_seconds_count{queue="statistics_count_everything_and_print_for_prometheus",outcome="buried"} 1
delayqueue_run_seconds_sum{queue="statistics_count_everything_and_print_for_prometheus",outcome="timed_out"} *
delayqueue_run_seconds_count{queue="statistics_count_everything_and_print_for_prometheus",outcome="timed_out"} 0
int(25)
string(5) "0.001"
string(9) "16777.215"
bool(true)
DelayQueue\Stats Object
(
    [delayed] => 1
    [ready] => 0
    [reserved] => 0
    [buried] => 1
    [blocked] => 0
    [pushed] => 5
    [acked] => 1
    [failed] => 0
    [timedOut] => 0
    [cancelled] => 1
    [expired] => 1
    [oldestReadyAge] => 
    [nextDueAt] => *
    [paused] => 
    [workers] => Array
        (
            [idle] => 0
            [working] => 0
            [paused] => 0
            [stopping] => 0
        )

)
bool(true)
bool(true)
bool(true)
