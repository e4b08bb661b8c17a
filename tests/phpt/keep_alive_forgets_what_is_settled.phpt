--TEST--
keepAlive(): leases of settled jobs are forgotten long before they would have been renewed
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue(['ttr' => '1h']);
$resident = fn (): int => 4096 * (int) explode(' ', file_get_contents('/proc/self/statm'))[1];
$round = function () use ($queue): void {
    $queue->pushMany(array_fill(0, 500, ['payload' => 1]));
    $jobs = $queue->reserveMany(500);
    foreach ($jobs as $job) $job->keepAlive();
    $queue->ackMany(...$jobs);
};
for ($n = 0; $n < 5; $n++) $round();
$before = $resident();
for ($n = 0; $n < 60; $n++) $round();
$grown = $resident() - $before;
echo $grown < 2 << 20 ? 'as before' : "$grown bytes more", ', ', count($queue), " left\n";
?>
--EXPECT--
as before, 0 left
