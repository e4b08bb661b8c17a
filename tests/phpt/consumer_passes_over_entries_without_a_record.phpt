--TEST--
consumer() counts messages: an entry that has lost its record takes the place of none
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$key = 'dq:{' . basename(__FILE__, '.php') . '}:waiting';
for ($n = 0; $n < 30; $n++) redis('ZADD', $key, (string) (1000 + $n), "gone-$n");
$queue->pushMany([['payload' => 'a'], ['payload' => 'b'], ['payload' => 'c']]);
echo json_encode([$queue->consumer(limit: 1), $queue->consumer(limit: 5), $queue->consumer()]), "\n";
echo redis('ZCARD', $key), " left\n";
?>
--EXPECT--
[["a"],["b","c"],[]]
0 left
