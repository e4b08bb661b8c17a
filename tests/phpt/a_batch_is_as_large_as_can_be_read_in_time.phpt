--TEST--
A batch holds as many bytes as a slow network carries within readTimeout; the rest comes with the next ones, uncounted
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue(['readTimeout' => 1, 'maxPayload' => 4 << 20]);
for ($n = 0; $n < 6; $n++) $queue->push(str_repeat('x', 400_000));
$queue->push(str_repeat('y', 3_000_000));
$queue->push('small');
$sizes = [];
while ($jobs = $queue->reserveMany(100)) {
    $sizes[] = array_sum(array_map(fn ($job) => strlen($job->body), $jobs));
    foreach ($jobs as $job) echo $job->attempts;
    $queue->ackMany(...$jobs);
}
echo "\n", count($queue), " left\n";
// One megabyte at a time; a job that is larger comes alone.
var_dump(count(array_filter($sizes, fn ($size) => $size > 1_100_000)), count($sizes) >= 4);
echo "-- in a loop\n";
for ($n = 0; $n < 6; $n++) $queue->push(str_repeat('x', 400_000));
$queue->consume(function ($job) { echo $job->attempts; }, prefetch: 100, stopWhenEmpty: true);
echo "\n", count($queue), " left\n";
?>
--EXPECT--
11111111
0 left
int(1)
bool(true)
-- in a loop
111111
0 left
