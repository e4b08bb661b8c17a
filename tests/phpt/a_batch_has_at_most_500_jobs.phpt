--TEST--
reserveMany(): more than 500 counts as 500
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->pushMany(array_fill(0, 600, ['payload' => 1]));
var_dump(count($queue->reserveMany(8000)), count($queue->reserveMany(500)));
$queue->purge();
?>
--EXPECT--
int(500)
int(100)
