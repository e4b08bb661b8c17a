--TEST--
A job that is plain, changed, or sealed with other keys is buried with the reason, and reserve() and consume() go on to the next
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$sealing = queue(['keys' => ['k1' => str_repeat('a', 32)]]);
$others = queue(['keys' => ['k2' => str_repeat('b', 32)]]);
$plain = queue();
$jobs = 'dq:{' . basename(__FILE__, '.php') . '}:jobs';

function fill(): void
{
    global $sealing, $others, $plain, $jobs;
    $plain->push('plain', id: 'plain');
    $others->push('other', id: 'other');
    $sealing->pushMany([['payload' => 'changed', 'id' => 'changed'], ['payload' => 'good', 'id' => 'good']]);
    $record = redis('HGET', $jobs, 'changed');
    redis('HSET', $jobs, 'changed', substr($record, 0, -1) . chr(ord($record[-1]) ^ 1));
}
function show(): void
{
    global $sealing;
    foreach ($sealing->list(DelayQueue\State::Buried) as $info) {
        echo $info->lastError, ' | ', json_encode($info->payload), ' | ', $info->sealError, "\n";
    }
    $sealing->purge();
}
fill();
$job = $sealing->reserve();
echo $job->id, ' ', $job->payload, "\n";
var_dump($sealing->reserve(), $sealing->reserveJob('plain'));
show();
fill();
echo $sealing->drain(fn($job) => print("handler $job->id\n")), "\n";
show();
fill();
var_dump($sealing->consumer(limit: 10));
show();

echo "-- without keys\n";
$sealing->push('a', id: 'a', headers: ['tenant' => 'acme']);
$plain->push('b', id: 'b');
$info = $plain->peek('a');
var_dump($info->payload, $info->headers, strlen($info->body), array_keys($info->seal), $info->sealError, $plain->peek('b')->seal, $plain->peek('b')->sealError);
caught(fn() => $plain->update('a', 'c'));
echo $plain->reserve()->payload, "\n";
echo $plain->peekBuried()->lastError, "\n";
$plain->kick();
$plain->consumer();
$plain->purge();
?>
--EXPECTF--
good good
NULL
NULL
job 'other' of queue '%s' cannot be opened: it is sealed with key 'k2', which is not among the keys of this queue object | null | it is sealed with key 'k2', which is not among the keys of this queue object
job 'changed' of queue '%s' cannot be opened: payload, headers, id or queue are not those that were sealed with key 'k1' | null | payload, headers, id or queue are not those that were sealed with key 'k1'
job 'plain' of queue '%s' cannot be opened: it is not sealed, and this queue object has keys | null | it is not sealed, and this queue object has keys
handler good
1
job 'plain' of queue '%s' cannot be opened: it is not sealed, and this queue object has keys | null | it is not sealed, and this queue object has keys
job 'other' of queue '%s' cannot be opened: it is sealed with key 'k2', which is not among the keys of this queue object | null | it is sealed with key 'k2', which is not among the keys of this queue object
job 'changed' of queue '%s' cannot be opened: payload, headers, id or queue are not those that were sealed with key 'k1' | null | payload, headers, id or queue are not those that were sealed with key 'k1'
array(1) {
  [0]=>
  string(4) "good"
}
job 'plain' of queue '%s' cannot be opened: it is not sealed, and this queue object has keys | null | it is not sealed, and this queue object has keys
job 'other' of queue '%s' cannot be opened: it is sealed with key 'k2', which is not among the keys of this queue object | null | it is sealed with key 'k2', which is not among the keys of this queue object
job 'changed' of queue '%s' cannot be opened: payload, headers, id or queue are not those that were sealed with key 'k1' | null | payload, headers, id or queue are not those that were sealed with key 'k1'
-- without keys
NULL
array(0) {
}
int(%d)
array(3) {
  [0]=>
  string(3) "alg"
  [1]=>
  string(3) "key"
  [2]=>
  string(3) "tag"
}
string(61) "it is sealed with key 'k1', and this queue object has no keys"
NULL
NULL
DelayQueue\SealException: job 'a' of queue 'a_job_that_cannot_be_opened_is_buried_not_delivered' cannot be opened: it is sealed with key 'k1', and this queue object has no keys
b
job 'a' of queue '%s' cannot be opened: it is sealed with key 'k1', and this queue object has no keys

Warning: DelayQueue::consumer(): A payload is sealed, and this queue object has no keys in %s on line %d
