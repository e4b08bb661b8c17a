--TEST--
pushOnce() keeps the receipt and the past of a job, and the seal that it came with
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\State;
$keys = ['keys' => ['k1' => str_repeat('k', 32)]];
$queue = queue($keys);
// An object without the keys brings a job back as it was.
$plain = queue();
$queue->push(['card' => '4711'], delay: 60, id: 'b', headers: ['h' => 'x']);
$stored = $plain->peek('b');
$queue->cancel('b');
$item = ['receipt' => 'r1', 'payload' => $stored->body, 'id' => 'b', 'headers' => $stored->headers, 'seal' => $stored->seal, 'delay' => 60];
echo json_encode($plain->pushOnce([$item])), "\n";
echo json_encode([$queue->peek('b')->payload, $queue->peek('b')->headers, $queue->peek('b')->sealError]), "\n";
echo json_encode($plain->pushOnce([$item, ['receipt' => 2, 'payload' => 'x', 'id' => 3]])), "\n";
echo json_encode([$plain->receipts(), redis('ZRANGE', 'dq:{' . $plain->name() . '}:receipts', '0', '-1')]), "\n";
foreach (['x', ['alg' => 'x'], ['alg' => 'hmac-sha256', 'key' => 'k1', 'tag' => 'dA==']] as $wrong) {
    caught(fn () => offline()->pushOnce([['receipt' => 'r', 'payload' => 1, 'seal' => $wrong]]));
}

// The values of the past are PHP's, as everywhere; a reason is cut as that of a failure.
$plain->pushOnce([['receipt' => 'r3', 'payload' => 1, 'id' => 'c', 'state' => State::Buried, 'createdAt' => 5,
    'past' => ['attempts' => '3', 'buries' => 1.0, 'firstDueAt' => '1.5', 'lastError' => "no\0 way " . str_repeat('x', 3000)]]]);
$info = $plain->peek('c');
var_dump($info->state, $info->createdAt, $info->attempts, $info->buries, $info->firstDueAt, strlen($info->lastError) < 2100, substr($info->lastError, 0, 6));

$once = $plain->pushOnce([['receipt' => 'r4']]);
caught(function () use ($once) { $once->added = 2; });
caught(function () use ($once) { unset($once->kept); });
echo json_encode($once), "\n";
$prepared = $plain->prepare(new DelayQueue\NewJob([1], '15m', 'd', expires: '1h'));
caught(function () use ($prepared) { $prepared->body = '2'; });
echo implode(' ', array_keys(get_object_vars($prepared))), "\n";
// How another object has to be set so that it stores the job in the same way.
$other = queue(['partitions' => 4] + $keys)->settings();
echo json_encode([$other->partitions, $other->isSealed]), "\n";

// Without an id of its own a job has the same home each time.
$spread = queue(['partitions' => 4]);
$items = array_map(fn (int $n) => ['receipt' => "s$n", 'payload' => $n], range(1, 30));
foreach ([1, 2] as $_) {
    echo json_encode($spread->pushOnce($items)), "\n";
}
?>
--EXPECT--
{"added":1,"kept":0,"known":0}
[{"card":"4711"},{"h":"x"},null]
{"added":1,"kept":0,"known":1}
[["r1","2"],["r1","2"]]
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 0: "seal" must be of type ?array, string given
DelayQueue\InvalidArgument: DelayQueue::pushOnce(): Argument #1 ($jobs) item 0: "seal" must have the keys "alg", "key" and "tag"
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 0: "payload" must be of type string, int given
enum(DelayQueue\State::Buried)
float(5)
int(3)
int(1)
float(1.5)
bool(true)
string(6) "no\0 w"
Error: Cannot modify readonly property DelayQueue\PushOnce::$added
Error: Cannot unset readonly property DelayQueue\PushOnce::$kept
{"added":1,"kept":0,"known":0}
Error: Cannot modify readonly property DelayQueue\PreparedJob::$body
id body headers delay dueAt priority ttr maxAttempts backoff timeout onDuplicate unique group extras
[4,true]
{"added":30,"kept":0,"known":0}
{"added":0,"kept":0,"known":30}
