--TEST--
consumer() hands over all messages that it took, also where an error handler makes exceptions of warnings
--FILE--
<?php
require __DIR__ . '/helpers.inc';
set_error_handler(function (int $level, string $message): never {
    echo "told: $message\n";
    throw new ErrorException($message, 0, $level);
});
$queue = queue();
queue(['format' => 'raw'])->push('not json');
$queue->pushMany([['payload' => 1], ['payload' => 2]]);
echo json_encode($queue->consumer()), ' and ', count($queue), " left\n";

queue(['keys' => ['k' => str_repeat('x', 32)]])->push('secret');
$queue->push(3);
$taken = $queue->consumer();
echo strlen($taken[0]) > 6 ? 'sealed bytes' : 'nothing', ', ', $taken[1], ' and ', count($queue), " left\n";
?>
--EXPECT--
told: DelayQueue::consumer(): A payload is not valid JSON: Syntax error
["not json",1,2] and 0 left
told: DelayQueue::consumer(): A payload is sealed, and this queue object has no keys
sealed bytes, 3 and 0 left
