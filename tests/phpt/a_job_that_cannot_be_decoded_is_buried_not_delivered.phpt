--TEST--
A job whose body is not JSON is buried with that reason, and reserve() goes on to the next
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$raw = queue(['format' => 'raw']);
$json = queue();
$raw->push('{"broken":', id: 'a');
$raw->push("\xff", id: 'b');
$json->push('good', id: 'c');
$raw->push('', id: 'd');
$job = $json->reserve();
var_dump($job->id, $job->payload);
$job->ack();
var_dump($json->reserve(), $json->reserve(0.05));
foreach ($json->list(DelayQueue\State::Buried) as $info) {
    echo $info->id, ': ', $info->lastError, ' payload=', json_encode($info->payload), ' body=', bin2hex($info->body), "\n";
}
$raw->push('[', id: 'e');
$raw->push('[1]', id: 'f');
$raw->push(']', id: 'g');
var_dump(array_map(fn($job) => $job->id, $json->reserveMany(10)), $json->reserveJob('a'), $json->peek('a')->buries);
// Read as raw bytes they are jobs like any other.
var_dump($raw->reserveJob('a')->payload);
$raw->purge();
?>
--EXPECT--
string(1) "c"
string(4) "good"
NULL
NULL
a: payload is not valid JSON: Syntax error payload=null body=7b2262726f6b656e223a
b: payload is not valid JSON: Malformed UTF-8 characters, possibly incorrectly encoded payload=null body=ff
d: payload is not valid JSON: Syntax error payload=null body=
array(1) {
  [0]=>
  string(1) "f"
}
NULL
int(2)
string(10) "{"broken":"
