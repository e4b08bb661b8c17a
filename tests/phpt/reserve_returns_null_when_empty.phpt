--TEST--
reserve() returns null at once, or when the time is up
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
foreach ([0, 0.0, 0.2] as $timeout) {
    $start = hrtime(true);
    var_dump($queue->reserve($timeout), $queue->reserveMany(3, $timeout));
    $took = (hrtime(true) - $start) / 1e9;
    var_dump($took >= 2 * $timeout && $took < 2 * $timeout + 1);
}
?>
--EXPECT--
NULL
array(0) {
}
bool(true)
NULL
array(0) {
}
bool(true)
NULL
array(0) {
}
bool(true)
