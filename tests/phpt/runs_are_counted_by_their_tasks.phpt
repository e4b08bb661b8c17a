--TEST--
tasks(): runs, failures and seconds by the names of tasks, of every loop under the prefix
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue(['prefix' => 'tasks' . getmypid(), 'backoff' => DelayQueue\Backoff::fixed('1h')]);
$show = function (DelayQueue $queue): void {
    $counts = array_map(fn(array $count) => [$count['runs'], $count['failures'], $count['seconds'] > 0], $queue->tasks());
    ksort($counts);
    echo json_encode($counts), "\n";
};
$show($queue);
foreach ([['task' => 'mail'], ['task' => 'mail'], ['task' => 'close', 'fails' => true], 'none', ['task' => 5], ['task' => '']] as $payload) {
    $queue->push($payload);
}
$handler = fn($job) => empty($job->payload['fails']) || throw new LogicException('no');
$queue->drain(fn($job) => is_array($job->payload) ? $handler($job) : null);
$show($queue);
$queue->push(['task' => 'mail']);
$queue->drain(fn($job) => $job->fail('no'));
$queue->push(['task' => 'mail']);
$queue->drain(fn($job) => $job->release('1h'));
$queue->pushMany([['payload' => ['task' => 'mail']], ['payload' => ['task' => 'close']]]);
$queue->consume(fn(array $jobs) => null, stopWhenEmpty: true, batch: 10);
$show($queue);

echo "-- named\n";
$queue->pushMany([['payload' => 1, 'id' => 'a'], ['payload' => 1, 'id' => 'null'], ['payload' => 1, 'id' => 'throws']]);
set_error_handler(fn($level, $message) => print("$message\n"));
$queue->consume(fn() => null, stopWhenEmpty: true, task: fn($job) => match ($job->id) { 'a' => "long\n" . str_repeat('ü', 60), 'null' => null });
restore_error_handler();
$show($queue);

echo "-- a loop of one's own\n";
$enlisted = $queue->enlist(task: fn($job) => "own $job->id");
$queue->push(1, id: 'x');
$queue->push(1, id: 'y');
$queue->push(1, id: 'z');
$queue->reserve()->ack();
$queue->reserve()->fail();
$queue->reserve();
$enlisted->close();
echo json_encode(preg_grep('/^own/', array_keys($queue->tasks()))), "\n";

echo "-- sealed\n";
foreach ([false, true] as $signed) {
    $sealed = $queue->sibling("sealed" . (int) $signed, ['keys' => ['k' => str_repeat('k', 32)], 'signed' => $signed]);
    $sealed->push(['task' => 'secret' . (int) $signed]);
    $sealed->drain(fn() => null);
}
echo json_encode(preg_grep('/^secret/', array_keys($queue->tasks()))), "\n";
$sealed = $queue->sibling('sealed0', ['keys' => ['k' => str_repeat('k', 32)]]);
$sealed->push(['task' => 'secret2']);
$sealed->consume(fn() => null, stopWhenEmpty: true, task: fn($job) => $job->payload['task']);
echo json_encode(array_values(preg_grep('/^secret/', array_keys($queue->tasks())))), "\n";

echo "-- many\n";
foreach ([1, 2] as $_) {
    $queue->pushMany(array_map(fn(int $n) => ['payload' => ['task' => "many $n"]], range(1, 300)));
    $queue->consume(fn() => null, stopWhenEmpty: true, prefetch: 100);
}
$tasks = $queue->tasks();
$many = array_filter($tasks, fn($name) => str_starts_with($name, 'many'), ARRAY_FILTER_USE_KEY);
var_dump(count($tasks), isset($tasks['others']), array_sum(array_column($many, 'runs')) + $tasks['others']['runs']);
?>
--EXPECT--
[]
{"close":[1,1,true],"mail":[2,0,true]}
{"close":[2,1,true],"mail":[5,1,true]}
-- named
DelayQueue::consume(): The name of a task could not be found: UnhandledMatchError: Unhandled match case 'throws'
{"close":[2,1,true],"long?\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc":[1,0,true],"mail":[5,1,true]}
-- a loop of one's own
{"3":"own x","4":"own y"}
-- sealed
{"5":"secret1"}
["secret1","secret2"]
-- many
int(201)
bool(true)
int(600)
