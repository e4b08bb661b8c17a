--TEST--
Stats::prometheusPage() declares each metric once, for any number of queues
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Stats;
use DelayQueue\Testing;

$page = Stats::prometheusPage(
    Testing::stats(['ready' => 1, 'oldestReadyAge' => 2.5], 'one'),
    Testing::stats(['ready' => 2, 'workers' => ['working' => 2, 'idle' => 1]], 'two'),
    Testing::stats(['ready' => 3, 'paused' => true], 'three'),
);
preg_match_all('/^# (HELP|TYPE) (\S+)/m', $page, $declared);
var_dump(max(array_count_values($declared[2])));
// The lines of one metric follow each other.
$groups = preg_replace('/(_bucket|_sum|_count)?{.*/', '', preg_grep('/^[^#]/', explode("\n", trim($page))));
var_dump(count(array_filter(array_values($groups), fn ($name, $n) => $n === 0 || $name !== array_values($groups)[$n - 1], ARRAY_FILTER_USE_BOTH)) === count(array_unique($groups)));
echo implode("\n", preg_grep('/state="ready"|oldest_ready|paused{|workers/', explode("\n", $page))), "\n";
var_dump(Testing::stats([], 'one')->toPrometheus() === Stats::prometheusPage(Testing::stats([], 'one')), preg_match_all('/^[^#]/m', Stats::prometheusPage()));
caught(fn () => Stats::prometheusPage(1));
foreach ([3, ['asleep' => 1], ['idle' => -1]] as $workers) {
    caught(fn () => Testing::stats(['workers' => $workers]));
}
?>
--INI--
delayqueue.testing=1
--EXPECT--
int(2)
bool(true)
delayqueue_jobs{queue="one",state="ready"} 1
delayqueue_jobs{queue="two",state="ready"} 2
delayqueue_jobs{queue="three",state="ready"} 3
# HELP delayqueue_oldest_ready_age_seconds How long the oldest ready job that is not blocked has been due.
# TYPE delayqueue_oldest_ready_age_seconds gauge
delayqueue_oldest_ready_age_seconds{queue="one"} 2.5
delayqueue_paused{queue="one"} 0
delayqueue_paused{queue="two"} 0
delayqueue_paused{queue="three"} 1
# HELP delayqueue_workers Workers that serve the queue, by state.
# TYPE delayqueue_workers gauge
delayqueue_workers{queue="two",state="idle"} 1
delayqueue_workers{queue="two",state="working"} 2
delayqueue_workers{queue="two",state="paused"} 0
delayqueue_workers{queue="two",state="stopping"} 0
bool(true)
int(1)
TypeError: DelayQueue\Stats::prometheusPage(): Argument #1 must be of type DelayQueue\Stats, int given
TypeError: DelayQueue\Testing::stats(): Argument #1 ($properties) must have "workers" of type ?array, of non-negative ints by state
TypeError: DelayQueue\Testing::stats(): Argument #1 ($properties) must have "workers" of type ?array, of non-negative ints by state
TypeError: DelayQueue\Testing::stats(): Argument #1 ($properties) must have "workers" of type ?array, of non-negative ints by state
