--TEST--
list() begins behind the place of a job, also when it has gone
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\State;
use DelayQueue\Testing;

$ids = fn (array $jobs) => implode(' ', array_map(fn ($job) => $job->id, $jobs));
foreach ([1, 4] as $partitions) {
    $queue = queue(['partitions' => $partitions], "-$partitions");
    $queue->purge();
    $moment = new DateTime('2100-01-01 00:00:00.123457 UTC');
    foreach (['a', 'B', 'c', '10', '9'] as $n => $id) {
        $queue->pushMany([['payload' => 1, 'id' => $id, 'delay' => $moment, 'priority' => $n % 2 ? 7 : 1024]]);
        $queue->producer("far $id", 32503679999.999999, []); // no float knows this microsecond
    }
    $all = $queue->list(State::Delayed);
    var_dump($ids($queue->list(State::Delayed, 1, 7, $all[0])) === $ids($queue->list(State::Delayed, 2, 7)));
    $pages = [];
    for ($last = null; ($page = $queue->list(State::Delayed, limit: 3, after: $last)) !== [];) {
        $pages[] = $ids($page);
        $last = count($pages) % 2 ? end($page)->place() : end($page);
        $queue->cancel(end($page)->id); // its place stays
    }
    echo $partitions === 1 ? implode(', ', $pages) . "\n" : '';
    var_dump(implode(' ', $pages) === $ids($all));
}
caught(fn () => $queue->list(State::Ready, after: $all[0]));
caught(fn () => $queue->list(State::Ready, after: $all[0]->place()));
foreach (['a', '', 'ready.1024.5.0.', "ready.1024.5.0.a\n", 'ready.1024.5.65536.a'] as $wrong) {
    caught(fn () => $queue->list(State::Ready, 0, 100, $wrong));
}
caught(fn () => $queue->list(State::Ready, 0, 100, []));
echo Testing::jobInfo(['state' => State::Buried, 'dueAt' => 5.000001, 'id' => 'a b', 'group' => 'g', 'priority' => 7])->place(), "\n";
var_dump($queue->list(State::Ready, after: Testing::jobInfo(['state' => State::Ready])));
var_dump($queue->list(State::Ready, 0, 100, null));
?>
--INI--
delayqueue.testing=1
--EXPECT--
bool(true)
10 9 B, a c far 10, far 9 far B far a, far c
bool(true)
bool(true)
bool(true)
DelayQueue\InvalidArgument: DelayQueue::list(): Argument #4 ($after) must be a job in the state that is listed
DelayQueue\InvalidArgument: DelayQueue::list(): Argument #4 ($after) must be a job in the state that is listed
DelayQueue\InvalidArgument: DelayQueue::list(): Argument #4 ($after) must be a job, or the place of one
DelayQueue\InvalidArgument: DelayQueue::list(): Argument #4 ($after) must be a job, or the place of one
DelayQueue\InvalidArgument: DelayQueue::list(): Argument #4 ($after) must be a job, or the place of one
DelayQueue\InvalidArgument: DelayQueue::list(): Argument #4 ($after) must be a job, or the place of one
DelayQueue\InvalidArgument: DelayQueue::list(): Argument #4 ($after) must be a job, or the place of one
TypeError: DelayQueue::list(): Argument #4 ($after) must be of type DelayQueue\JobInfo|string|null, array given
buried.1024.5000001.0.a b
array(0) {
}
array(0) {
}
