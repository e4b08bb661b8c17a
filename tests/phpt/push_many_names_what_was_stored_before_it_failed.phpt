--TEST--
pushMany(): $stored of an exception names the jobs of the chunks before, also of a Traversable
--CONFLICTS--
all
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$item = fn (int $n) => ['payload' => $n, 'id' => "job-$n"];
$fails = function (iterable $jobs) use ($queue) {
    try {
        $queue->pushMany($jobs);
        echo "stored\n";
    } catch (DelayQueue\Exception $e) {
        echo $e::class, ': ', preg_replace('/ \(command not allowed.*/', '', $e->getMessage()), "\n";
        echo count($e->stored), ' named, ', count($queue), " stored, the last is ", end($e->stored) ?: 'none', ' ', array_is_list($e->stored) ? 'list' : 'map', "\n";
    }
};

echo "-- a duplicate\n";
$queue->push(0, id: 'job-1200');
$fails(array_map($item, range(1, 1300)));
$queue->cancel(...array_map(fn ($n) => "job-$n", range(1, 1000)));
$fails((function () use ($item) { for ($n = 1; $n <= 1300; $n++) yield $item($n); })());
$queue->purge();
$queue->push(0, id: 'job-3');
$fails(array_map($item, range(1, 5)));
$queue->purge();

echo "-- Redis is full\n";
$full = (function () use ($item) {
    for ($n = 1; $n <= 700; $n++) {
        if ($n === 501) redis('CONFIG', 'SET', 'maxmemory', '1');
        yield $item($n);
    }
})();
try {
    $fails($full);
} finally {
    redis('CONFIG', 'SET', 'maxmemory', '0');
}
$queue->purge();

echo "-- what is wrong with an item is said before anything of its chunk is sent\n";
try {
    $queue->pushMany((function () use ($item) { for ($n = 1; $n <= 600; $n++) yield $n < 600 ? $item($n) : ['payload' => 1, 'ttr' => 0]; })());
} catch (ValueError $e) {
    echo $e->getMessage(), ' ', count($queue), "\n";
}
$queue->purge();
foreach (['ConnectionException', 'AuthenticationException', 'ServerException', 'QueueFullException', 'DuplicateJobException'] as $class) {
    $class = "DelayQueue\\$class";
    echo json_encode((new $class)->stored);
}
?>
--EXPECT--
-- a duplicate
DelayQueue\DuplicateJobException: job 'job-1200' is already in queue 'push_many_names_what_was_stored_before_it_failed' (jobs stored before: 1000)
1000 named, 1001 stored, the last is job-1000 list
DelayQueue\DuplicateJobException: job 'job-1200' is already in queue 'push_many_names_what_was_stored_before_it_failed' (jobs stored before: 1000)
1000 named, 1001 stored, the last is job-1000 list
DelayQueue\DuplicateJobException: job 'job-3' is already in queue 'push_many_names_what_was_stored_before_it_failed'
0 named, 1 stored, the last is none list
-- Redis is full
DelayQueue\QueueFullException: pushing jobs to queue 'push_many_names_what_was_stored_before_it_failed', 500 of which are stored: Redis has no memory left and refused the request
500 named, 500 stored, the last is job-500 list
-- what is wrong with an item is said before anything of its chunk is sent
DelayQueue::pushMany(): Argument #1 ($jobs) item 599: "ttr" must be between 0.1 seconds and 30 days 500
[][][][][]
