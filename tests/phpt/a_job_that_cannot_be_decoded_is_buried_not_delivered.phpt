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
