--TEST--
With keys, payload and headers are unreadable in Redis and as they were for handlers; signed ones stay readable
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$keys = ['2030-01' => random_bytes(32), 7 => 'base64:' . base64_encode(random_bytes(32))];

/** The queue's keys that hold the text. */
function holding(string $text): array
{
    $found = [];
    foreach (redis('KEYS', '*{' . queue()->name() . '}*') as $key) {
        $type = redis('TYPE', $key);
        $values = $type === 'hash' ? redis('HGETALL', $key) : redis('ZRANGE', $key, '0', '-1');
        if (str_contains(implode("\n", $values), $text)) {
            $found[] = preg_replace('/.*:/', '', $key);
        }
    }
    return $found;
}

$payload = ['card' => 'SECRET-4711'];
$headers = ['tenant' => 'SECRET-4712'];
foreach ([false, true] as $signed) {
    $queue = queue(['keys' => $keys, 'signed' => $signed]);
    $queue->push($payload, id: 'a', headers: $headers);
    $queue->pushMany([['payload' => 1, 'id' => 'b'], ['payload' => $payload, 'headers' => $headers, 'id' => 'c', 'delay' => 60]]);
    $queue->update('b', $payload, $headers);
    $queue->update('c', $payload);
    $queue->producer('d', 1, $payload);
    $info = $queue->peek('c');
    var_dump($info->payload === $payload, $info->headers === $headers, $info->body, $info->sealError, $info->seal['key'], $info->seal['alg']);
    var_dump(holding('SECRET-471'));
    foreach ($queue->reserveMany(10) as $job) {
        if ($job->id === 'a') {
            $job->update($payload + ['page' => 2], $headers);
            var_dump(holding('SECRET-471'));
            $job->release();
            continue;
        }
        echo $job->id, ' ', json_encode($job->payload), ' ', $job->body === json_encode($payload) ? 'body' : $job->body, ' ', json_encode($job->headers), "\n";
        $job->ack();
    }
    echo $queue->drain(function ($job) use ($headers) {
        echo $job->id, ' ', json_encode($job->payload), ' ', $job->headers === $headers ? 'headers' : 'other', "\n";
    }), "\n";
    $queue->purge();
}

echo "-- rotation\n";
$old = queue(['keys' => ['2029' => str_repeat('o', 32)]]);
$both = queue(['keys' => ['2030' => str_repeat('n', 32), '2029' => str_repeat('o', 32)]]);
$new = queue(['keys' => ['2030' => str_repeat('n', 32)]]);
$old->push('x', id: 'a', headers: $headers);
queue()->push('plain', id: 'b', delay: 60);
var_dump($both->peek('a')->payload, $both->reseal('a'), $both->reseal('a'), $new->peek('a')->payload, $new->peek('a')->headers === $headers);
caught(fn() => $both->reseal('b', plain: false));
var_dump($both->reseal('b'), $new->peek('b')->payload, $both->reseal('missing'));
caught(fn() => $old->reseal('a'));
caught(fn() => queue()->reseal('a'));
$new->purge();
?>
--EXPECT--
bool(true)
bool(true)
string(22) "{"card":"SECRET-4711"}"
NULL
string(7) "2030-01"
string(18) "xchacha20-poly1305"
array(0) {
}
d {"card":"SECRET-4711"} body []
array(0) {
}
b {"card":"SECRET-4711"} body {"tenant":"SECRET-4712"}
a {"card":"SECRET-4711","page":2} headers
1
bool(true)
bool(true)
string(22) "{"card":"SECRET-4711"}"
NULL
string(7) "2030-01"
string(11) "hmac-sha256"
array(1) {
  [0]=>
  string(4) "jobs"
}
d {"card":"SECRET-4711"} body []
array(1) {
  [0]=>
  string(4) "jobs"
}
b {"card":"SECRET-4711"} body {"tenant":"SECRET-4712"}
a {"card":"SECRET-4711","page":2} headers
1
-- rotation
string(1) "x"
bool(true)
bool(false)
string(1) "x"
bool(true)
DelayQueue\SealException: job 'b' of queue 'sealed_payloads_and_headers_do_not_stand_in_redis' cannot be opened: it is not sealed, and this queue object has keys
bool(true)
string(5) "plain"
bool(false)
DelayQueue\SealException: job 'a' of queue 'sealed_payloads_and_headers_do_not_stand_in_redis' cannot be opened: it is sealed with key '2030', which is not among the keys of this queue object
Error: DelayQueue::reseal() needs the option "keys"
